import { createHash } from 'node:crypto';
import { PAGE_MARKUP } from './page-markup.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';

/** The features of an application's endpoint besides its document. */
export interface PageFeatures {
  readonly control: boolean;
  readonly traces: boolean;
}

/**
 * The page of an endpoint, and the headers that it is served with. It is the same for everybody, and asks the endpoint for
 * the data that it shows.
 */
export interface PageDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A data URL, so that the browser doesn't ask for an icon. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='14' cy='14' r='10' fill='none' " +
  "stroke='%236366f1' stroke-width='4'/%3E%3Cpath d='m22 22 7 7' stroke='%236366f1' stroke-width='5' stroke-linecap='round'/%3E%3C/svg%3E";

export function createPageDocument({ control, traces }: PageFeatures): PageDocument {
  const features = `${control ? ' data-control' : ''}${traces ? ' data-traces' : ''}`;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>NestLens</title>
<link rel="icon" href="${ICON}">
<style>${PAGE_STYLE}</style>
</head>
<body${features}>
${PAGE_MARKUP}
<script type="module">${PAGE_SCRIPT}</script>
</body>
</html>
`;
  return { html, headers: { ...HEADERS } };
}

/** Only this style and script count, nothing is loaded from elsewhere, and texts can't become markup. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `script-src '${hashOf(PAGE_SCRIPT)}'`,
  `style-src '${hashOf(PAGE_STYLE)}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
