"use client";
import { useEffect, useState } from "react";
import { Vit } from "vitrine";

let loading;
const load = () => (loading ??= Vit.load("/digits.safetensors", { worker: true })); // once, and not on the server

export default function Page() {
  const [answer, setAnswer] = useState("");
  useEffect(() => {
    const left = new AbortController();
    const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
    load()
      .then((vit) => vit.classify({ strokes, width: 280, height: 280 }, { signal: left.signal }))
      .then(({ classes }) => setAnswer(JSON.stringify(classes[0])))
      .catch((error) => left.signal.aborted || setAnswer(error.message));
    return () => left.abort(); // also between the two runs of an effect in StrictMode
  }, []);
  return <output>{answer}</output>;
}
