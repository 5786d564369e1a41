/** How many bytes at a file's start show what it is. */
export const HEAD_BYTES = 1024;

/** Whether a file is HEIC, the format of an iPhone's photos, which only Safari decodes. */
export const isHeic = (head: Uint8Array): boolean =>
  /^.{4}ftyp(he[iv][cfmsx]|mif1|msf1)/s.test(new TextDecoder("latin1").decode(head));
