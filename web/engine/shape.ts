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
  /** Of an image: K, or K + 1 with doubt. */
  readonly logits: number;
}
