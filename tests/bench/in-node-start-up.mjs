// One start in a new process: node in-node-start-up.mjs SCRIPT OPTIONS. OPTIONS are JSON.
import { scripts } from "./start-up.mjs";

const [script, options] = process.argv.slice(2);
scripts[script](JSON.parse(options)).then(
  (answer) => process.send(answer),
  (error) => process.send({ error: error.message }),
);
