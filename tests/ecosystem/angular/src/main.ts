import { Component, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { Vit } from "vitrine";

@Component({ selector: "app-root", template: "<output>{{ answer() }}</output>" })
class App {
  readonly answer = signal("");

  async ngOnInit() {
    const vit = await Vit.load("digits.safetensors", { worker: true });
    const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
    const { classes } = await vit.classify({ strokes, width: 280, height: 280 });
    this.answer.set(JSON.stringify(classes[0]));
  }
}

bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] });
