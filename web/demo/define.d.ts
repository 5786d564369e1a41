/** The bytes of each model's file, by its name in weights/; vite.config.ts writes them. */
declare const WEIGHTS_BYTES: Record<string, number>;
