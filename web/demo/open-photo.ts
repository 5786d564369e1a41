/** Opens a photo and lays it on the pad. This code loads with the first photo. */
import { h } from "./dom.ts";
import type { Drawing } from "./drawing.ts";
import { allIn, type FileTransfer, misfit, sortOut } from "./own/files.ts";
import { openPhoto } from "./own/photo.ts";
import { ownWords } from "./own/words.ts";
import type { Photo } from "./photo.ts";
import { inWords } from "./status.ts";
import { words } from "./texts/words.ts";

/** The longer side of the picture that is shown, in pixels. */
const LONGEST_SIDE = 1600;

let turns = 0;

/**
 * Lays the first picture among the files on the pad, unless others came meanwhile.
 * @param say tells the visitor why there is none. The drawing stays then.
 * @returns false if a checkpoint is among the files, which is not for the pad.
 */
export async function layPhoto(transfer: FileTransfer, { lay }: Drawing, say: (text: string) => void): Promise<boolean> {
  const turn = ++turns, files = await allIn(transfer), { checkpoint, picture } = sortOut(files);
  if (checkpoint.length > 0) return false;
  try {
    if (!picture) throw new Error(misfit(files));
    const photo = await open(picture);
    if (turn === turns) lay(photo);
  } catch (error) {
    say(because(picture ? "photo" : "nothing", error));
  }
  return true;
}

/** Takes back a photo that the model refused. */
export function takeBack(error: unknown, drawing: Drawing, say: (text: string) => void): void {
  drawing.takeBack();
  say(because("photo", error));
}

const because = (what: "photo" | "nothing", error: unknown): string => words.trouble.because({ what: ownWords()[what], why: inWords(error) });

async function open(file: File): Promise<Photo> {
  const { source } = await openPhoto(file, file.name);
  const { width, height } = source, canvas = smaller(source);
  source.close();
  return { file, width, height, canvas };
}

function smaller(source: ImageBitmap): Photo["canvas"] {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(source.width, source.height));
  const canvas = h("canvas", { width: Math.ceil(source.width * scale), height: Math.ceil(source.height * scale) });
  const context = canvas.getContext("2d")!;
  context.imageSmoothingQuality = "high";
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas;
}
