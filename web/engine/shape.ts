/** The letters C, H, W, L, h, D, K of src/vit.h, by name. */
export interface Shape {
  readonly channels: number;
  readonly rows: number;
  readonly columns: number;
  readonly grid: readonly [rows: number, columns: number];
  readonly prefix: number;
  readonly tokens: number;
  readonly width: number;
  readonly depth: number;
  readonly heads: number;
  readonly headWidth: number;
  readonly classes: number;
  /** Tokens that find objects, the last of the prefix. */
  readonly detections: number;
  /** Of an image: K, K + 1 with doubt, or K + 5 for each detection token. */
  readonly logits: number;
}
