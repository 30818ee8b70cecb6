import { beforeEach, describe, expect, it } from 'vitest';
import { safeSetSpanAttributes } from 'nest-lens/core';
import {
  FORM_WORDS,
  HARMLESS_BEFORE_KEY,
  SECRET_ENDINGS,
  SECRET_WORDS,
  SECRET_WORDS_OF_TEXTS,
} from '../../src/core/spans/secret-keys.js';
import { captureSpans, type CapturedSpans } from '../support/capture-spans.js';
import { quoted, readPage } from './documentation.js';

const page = readPage('docs/attributes-and-redaction.md');

describe('docs/attributes-and-redaction.md', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
  });

  const examples = page
    .table('Key', 'Value', 'Set as')
    .map((cells) => cells.map((cell) => quoted(cell)[0]!) as [key: string, value: string, setAs: string]);

  it.each(examples)('I7: %s of value %s is set as %s', (key, value, setAs) => {
    const span = spans.tracer.startSpan('probe');
    safeSetSpanAttributes(span, { [key]: JSON.parse(value) as unknown });
    span.end();
    const expected: unknown = setAs === '[REDACTED]' ? setAs : JSON.parse(setAs);
    expect(spans.single('probe').attributes).toEqual({ [key]: expected });
  });

  it('I7: names each word that redacts, and no other', () => {
    const [always, endings, ofTexts] = page.table('Words', 'Redact').map(([words]) => quoted(words!));
    expect(always!.sort()).toEqual([...SECRET_WORDS].sort());
    expect(endings!.sort()).toEqual([...SECRET_ENDINGS].sort());
    expect(ofTexts!.sort()).toEqual([...SECRET_WORDS_OF_TEXTS].sort());
    const [, forms] = /in what form a secret is\.(.*?)and numbers/s.exec(page.text)!;
    expect(quoted(forms!).sort()).toEqual([...FORM_WORDS].sort());
    const [, harmless] = /says that it finds or sorts something:(.*?)\./s.exec(page.text)!;
    expect(quoted(harmless!).sort()).toEqual([...HARMLESS_BEFORE_KEY].sort());
  });

  it.each(SECRET_WORDS)('I7: %s redacts texts and numbers, its plural texts only', (word) => {
    const span = spans.tracer.startSpan('probe');
    const values = { text: 'x', number: 1, flag: true, texts: ['x'], numbers: [1] };
    for (const [kind, value] of Object.entries(values)) {
      safeSetSpanAttributes(span, { [`${kind}.${word}`]: value, [`${kind}.my_${word}s`]: value });
    }
    span.end();
    const { attributes } = spans.single('probe');
    for (const [kind, value] of Object.entries(values)) {
      expect(attributes[`${kind}.${word}`]).toBe(kind === 'flag' ? true : '[REDACTED]');
      const isText = typeof (Array.isArray(value) ? value[0] : value) === 'string';
      expect(attributes[`${kind}.my_${word}s`]).toEqual(isText ? '[REDACTED]' : value);
    }
  });

  it('I7: a given word redacts booleans and every key of its name', () => {
    const span = spans.tracer.startSpan('probe');
    const attributes = { 'user.is_pregnant': true, 'primary.key': 1, has_password: true };
    safeSetSpanAttributes(span, attributes, { redactKeys: ['is_pregnant', 'key'] });
    span.end();
    const redacted = { 'user.is_pregnant': '[REDACTED]', 'primary.key': '[REDACTED]' };
    expect(spans.single('probe').attributes).toEqual({ ...attributes, ...redacted });
  });
});
