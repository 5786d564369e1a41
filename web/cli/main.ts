#!/usr/bin/env node
/** The program `vitrine`. */
import { command } from "./commands.ts";

process.exitCode = await command(process.argv.slice(2), process);
