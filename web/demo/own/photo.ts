/** Photos from files, from the camera or our own. */
import { HEAD_BYTES, isHeic } from "../../base/heic.ts";
import { OFFERED } from "../../train/handwriting.ts";
import { h } from "../dom.ts";
import { drawStrokes } from "../ink.ts";
import { ownWords } from "./words.ts";

export interface Photo {
  source: ImageBitmap | HTMLCanvasElement | HTMLVideoElement;
  /** In the page's language, whichever it is at the time. */
  name(): string;
}

export function sizeOf({ source }: Photo): [width: number, height: number] {
  if (source instanceof HTMLVideoElement) return [source.videoWidth, source.videoHeight];
  return [source.width, source.height];
}

/** @throws {Error} if the browser cannot read the picture. */
export async function openPhoto(file: Blob, name: string): Promise<Photo & { source: ImageBitmap }> {
  const source = await createImageBitmap(file).catch(async () => {
    const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer().catch(() => new ArrayBuffer(0)));
    throw new Error(ownWords().unreadable({ name, got: isHeic(head) ? ownWords().heic : file.type || ownWords().unknownType }));
  });
  return { source, name: () => name };
}

export async function openCamera(): Promise<{ photo: Photo; stop(): void }> {
  if (!navigator.mediaDevices) throw new Error(ownWords().noCamera);
  const constraints = { video: { facingMode: "environment", width: 640, height: 480 } };
  const stream = await navigator.mediaDevices.getUserMedia(constraints);
  const video = h("video", { srcObject: stream, muted: true, playsInline: true });
  const stop = () => {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  };
  try {
    await video.play();
  } catch (error) {
    stop();
    throw error;
  }
  return { photo: { source: video, name: () => ownWords().theCamera }, stop };
}

const WIDTH = 448, HEIGHT = 336;

const blank = () => h("canvas", { width: WIDTH, height: HEIGHT }).getContext("2d")!;

/** An example photo that is drawn here: a 5 in blue ink on paper that lies askew in a shadow. */
export function digitPhoto(): Photo {
  const context = blank();
  const light = context.createLinearGradient(0, 0, WIDTH, HEIGHT);
  light.addColorStop(0, "#efe6d4");
  light.addColorStop(1, "#a89f90");
  context.fillStyle = light;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.setTransform(0.98, -0.08, 0.06, 0.98, 90, 45);
  drawStrokes(context, OFFERED.find(({ label }) => label === "5")!.strokes, "#1d2f6f");
  return { source: context.canvas, name: () => ownWords().ourDigit };
}

/** An example photo that is drawn here: a boat at sea. Our model for photos is sure that it is a ship. */
export function examplePhoto(): Photo {
  const context = blank();
  const sky = context.createLinearGradient(0, 0, 0, 200);
  sky.addColorStop(0, "#5a8fc2");
  sky.addColorStop(1, "#f3d9b1");
  const shape = (colour: string | CanvasGradient, corners: number[][]) => {
    context.fillStyle = colour;
    context.beginPath();
    for (const [x, y] of corners) context.lineTo(x, y);
    context.fill();
  };
  const box = (left: number, top: number, right: number, bottom: number) => [
    [left, top], [right, top], [right, bottom], [left, bottom],
  ];
  shape(sky, box(0, 0, 448, 200));
  shape("#2f6f8a", box(0, 200, 448, 336));
  for (let wave = 0; wave < 40; wave++) {
    const [x, y] = [(wave * 97) % 448, 210 + ((wave * 53) % 120)];
    shape("#78b0bd", box(x, y, x + 26, y + 3));
  }
  shape("#26313d", [[144, 262], [304, 262], [276, 298], [170, 298]]);
  shape("#3c2a1e", box(220, 132, 226, 262));
  shape("#f7f3e8", [[230, 138], [230, 252], [296, 252]]);
  shape("#f2efe6", [[216, 152], [216, 252], [164, 252]]);
  return { source: context.canvas, name: () => ownWords().ourExample };
}
