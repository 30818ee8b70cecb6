import { isRecord, readJson, readText, type SchematicTree } from './schematic-tree.js';

const REGISTER = 'nest-lens/register';
const FLAG = `--import ${REGISTER}`;

/** The changes of the start scripts in package.json. */
export interface ScriptChanges {
  /** The new text of the file; undefined if nothing changes. */
  readonly text: string | undefined;
  readonly changed: readonly string[];
  /** Scripts that start something in an unknown way. */
  readonly unknown: readonly string[];
}

/** Adds `--import nest-lens/register` to every script whose name begins with `start`. */
export function addToStartScripts(tree: SchematicTree): ScriptChanges {
  const path = 'package.json';
  const scripts = readJson(tree, path)?.['scripts'];
  let text = readText(tree, path) ?? '';
  const changed: string[] = [];
  const unknown: string[] = [];
  for (const [name, command] of Object.entries(isRecord(scripts) ? scripts : {})) {
    if (!/^start(:|$)/.test(name) || typeof command !== 'string') continue;
    const better = withRegister(command);
    if (better === undefined) unknown.push(name);
    else if (better !== command) {
      const next = replaceScript(text, name, command, better);
      (next === undefined ? unknown : changed).push(name);
      text = next ?? text;
    }
  }
  return { text: changed.length > 0 ? text : undefined, changed, unknown };
}

/** The command with the flag; the command itself if it needs none; undefined if the place of the flag is unknown. */
export function withRegister(command: string): string | undefined {
  if (command.includes(REGISTER)) return command;
  // In `npm run start:prod` or `pnpm start`, the script behind it gets the flag.
  if (/^\s*(npm|pnpm|yarn|bun)\s+(run\s+)?[\w:-]+\s*$/.test(command)) return command;
  const nest = /(^|[\s;&|])nest\s+start\b/;
  if (nest.test(command)) {
    // Without a shell, `--exec` takes the path of a program and no arguments.
    if (/\s(--exec|-e|--no-shell)\b/.test(command)) return undefined;
    // The flag goes to the end of this command: before another one, and before arguments of the application.
    return command.replace(
      /((?:^|[\s;&|])nest\s+start\b[^;&|]*?)(?=\s+--(?:\s|$)|\s*(?:$|[;&|]))/,
      `$1 --exec "node ${FLAG}"`,
    );
  }
  const node = /(^|[\s;&|])(node)(?=\s+[^;&|\s])/;
  return node.test(command) ? command.replace(node, `$1$2 ${FLAG}`) : undefined;
}

/** Changes one value in the text and keeps the format of the rest. */
function replaceScript(text: string, name: string, from: string, to: string): string | undefined {
  const start = text.indexOf('"scripts"');
  const key = JSON.stringify(name);
  const pattern = new RegExp(`(${escape(key)}\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*")`, 'g');
  pattern.lastIndex = start;
  for (let found = pattern.exec(text); start !== -1 && found; found = pattern.exec(text)) {
    if (JSON.parse(found[2]!) !== from) continue;
    const at = found.index + found[1]!.length;
    return text.slice(0, at) + JSON.stringify(to) + text.slice(at + found[2]!.length);
  }
  return undefined;
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
