"use client";
import { useEffect, useState } from "react";
import { Vit } from "vitrine";

export default function Page() {
  const [answer, setAnswer] = useState("");
  useEffect(() => {
    const loading = Vit.load("/digits.safetensors", { worker: true }); // in the browser alone
    const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
    loading
      .then((vit) => vit.classify({ strokes, width: 280, height: 280 }))
      .then(({ classes }) => setAnswer(JSON.stringify(classes[0])));
    return () => void loading.then((vit) => vit.dispose());
  }, []);
  return <output>{answer}</output>;
}
