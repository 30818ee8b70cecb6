import { beforeEach, describe, expect, it } from 'vitest';
import { BadRequestException, InternalServerErrorException } from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import 'nest-lens'; // With it, the core recognises Nest's answers.
import {
  managedSpan,
  type NestLensConfig,
  nestLensConfigFromEnv,
  setEnabledSpanGroups,
  type SiteOptions,
} from 'nest-lens/core';
import { putVerdictsInForce } from '../../../src/core/telemetry/verdict-rules.js';
import { captureSpans, type CapturedSpans, exceptions } from '../../support/capture-spans.js';
import { type CapturedWarnings, captureWarnings } from '../../support/capture-warnings.js';

type IsError = SiteOptions['isError'];

let spans: CapturedSpans;
let warnings: CapturedWarnings;
beforeEach(() => {
  spans = captureSpans();
  warnings = captureWarnings();
  setEnabledSpanGroups(['orders']);
});

/** Does what a set-up with these settings does to thrown values. */
function judge(config: Pick<NestLensConfig, 'clientErrors'>, isError?: IsError): void {
  putVerdictsInForce({ ...nestLensConfigFromEnv({ env: {} }), ...config }, { isError });
}

/** The status of a span whose work throws this. The span has recorded the value, whatever it is. */
function statusFor(thrown: unknown, isError?: IsError, name = 'work'): string {
  spans.clear();
  expect(() =>
    managedSpan('orders', name, { isError }, () => {
      throw thrown;
    }),
  ).toThrow();
  expect(exceptions(spans.single(name))).toHaveLength(1);
  return SpanStatusCode[spans.single(name).status.code];
}

const failure = new Error('boom');
const answer = new BadRequestException('no such order');

describe('whether a thrown value makes a span an error', () => {
  it('I12: an error does, an answer below 500 does not, one from 500 up does', () => {
    expect([failure, answer, new InternalServerErrorException()].map((thrown) => statusFor(thrown))).toEqual([
      'ERROR',
      'UNSET',
      'ERROR',
    ]);
  });

  it("I12: an answer does with clientErrors: 'error'", () => {
    judge({ clientErrors: 'error' });
    expect(statusFor(answer)).toBe('ERROR');
    judge({ clientErrors: 'unset' });
    expect(statusFor(answer)).toBe('UNSET');
  });

  it.each<[site: boolean | undefined, application: boolean | undefined, status: string]>([
    [undefined, undefined, 'ERROR'],
    [undefined, true, 'ERROR'],
    [undefined, false, 'UNSET'],
    [true, false, 'ERROR'],
    [false, true, 'UNSET'],
    [false, undefined, 'UNSET'],
  ])(
    'I12: an error, where the isError of the site says %s, and that of the application %s: %s',
    (site, application, status) => {
      judge({}, () => application);
      expect(statusFor(failure, () => site)).toBe(status);
    },
  );

  it('I12: isError true makes an answer an error', () => {
    expect(statusFor(answer, () => true)).toBe('ERROR');
  });

  it.each([0, '', null, 'no', {}])('I14: a verdict that is no boolean counts as none: %o', (verdict) => {
    const isError = (() => verdict) as never;
    expect([statusFor(failure, isError), statusFor(answer, isError)]).toEqual(['ERROR', 'UNSET']);
    expect(warnings.codes()).toEqual([]);
  });

  it('I14: a verdict that is a promise counts as none, and its rejection is not unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const isError = (() => Promise.reject(new Error('late'))) as never;
      expect([statusFor(failure, isError), statusFor(answer, isError)]).toEqual(['ERROR', 'UNSET']);
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });

  it('I12, I14: an isError that throws counts as none, and is said once a site and once for the application', () => {
    const refuse = (): never => {
      throw new Error('what is this?');
    };
    for (const name of ['one', 'one', 'two']) {
      expect([statusFor(failure, refuse, name), statusFor(answer, refuse, name)]).toEqual(['ERROR', 'UNSET']);
    }
    expect(warnings.take()).toEqual(['IS_ERROR_FAILED', 'IS_ERROR_FAILED']);
    expect(warnings.all.map(({ message }) => /'(one|two)'/.exec(message)?.[1])).toEqual(['one', 'two']);
    judge({}, refuse);
    for (const name of ['one', 'two']) expect(statusFor(failure, undefined, name)).toBe('ERROR');
    expect(warnings.take()).toEqual(['IS_ERROR_FAILED']);
  });
});
