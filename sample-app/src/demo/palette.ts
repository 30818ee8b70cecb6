import { stdout } from 'node:process';

/** Colours for a person at a terminal; plain text for a file, a pipe or `NO_COLOR`. */
const coloured = Boolean(stdout.isTTY) && !process.env['NO_COLOR'];

const style = (code: number) => (text: string) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = style(1);
export const dim = style(2);
export const red = style(31);
export const green = style(32);
export const yellow = style(33);
