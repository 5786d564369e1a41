/** So many bytes of a file tell what it is. */
export const HEAD_BYTES = 1024;

/** Whether a file begins as a photo of an iPhone does, which only Safari decodes. */
export const isHeic = (head: Uint8Array): boolean =>
  /^.{4}ftyp(he[iv][cfmsx]|mif1|msf1)/s.test(new TextDecoder("latin1").decode(head));
