import { describe, expect, it } from 'vitest';
import { Linter } from 'eslint';
import { createPageDocument } from '../../../src/nest/page/page-document.js';
import { PAGE_MARKUP } from '../../../src/nest/page/page-markup.js';
import { PAGE_SCRIPT } from '../../../src/nest/page/page-script.js';
import { PAGE_STYLE } from '../../../src/nest/page/page-style.js';

/** All of the browser that the script may use. */
const GLOBALS = [
  ...['document', 'location', 'fetch', 'sessionStorage', 'addEventListener', 'requestAnimationFrame'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'AbortController', 'TextDecoderStream'],
];

describe('the script of the page, which is kept as text', () => {
  it('is what a linter lets pass', () => {
    const messages = new Linter().verify(PAGE_SCRIPT, {
      languageOptions: {
        ecmaVersion: 2022,
        sourceType: 'module',
        globals: Object.fromEntries(GLOBALS.map((name) => [name, 'readonly'])),
      },
      rules: {
        'no-undef': 'error',
        'no-unused-vars': ['error', { varsIgnorePattern: '^_', caughtErrors: 'none' }],
        'no-redeclare': 'error',
        'no-shadow': 'error',
        'no-eval': 'error',
        'no-const-assign': 'error',
        'no-unreachable': 'error',
        eqeqeq: 'error',
      },
    });
    expect(messages.map(({ line, message }) => `${line}: ${message}`)).toEqual([]);
  });

  it('makes no markup of a text', () => {
    expect(PAGE_SCRIPT).not.toMatch(
      /innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|srcdoc|\.href\s*=/,
    );
  });

  it('finds each element that it looks for, and no two have one name', () => {
    const ids = [...PAGE_MARKUP.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!);
    const asked = [...PAGE_SCRIPT.matchAll(/\$\('([^']+)'\)/g)].map(([, id]) => id!);
    expect(new Set(ids).size).toBe(ids.length);
    expect(asked.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('and its style end where their elements do', () => {
    expect(PAGE_SCRIPT).not.toMatch(/<\/script|<!--/i);
    expect(PAGE_STYLE).not.toMatch(/<\//);
    // Small enough to come at once over a telephone.
    expect(createPageDocument({ control: true, traces: true }).html.length).toBeLessThan(80_000);
  });
});
