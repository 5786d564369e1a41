// The worker of a debug build, whose every run traps.
import "./ill.mjs";

globalThis.ill = "images";
await import("../../build/debug/dist/worker.js");
