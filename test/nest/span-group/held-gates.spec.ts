import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ExecutionContext } from '@nestjs/common';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { setSpanGroupSpec, SpanGroup, SpanGroupInterceptor, SpanRegistry } from 'nest-lens';
import { lastValueFrom, of } from 'rxjs';
import { holdGatesOpen } from '../../../src/core/groups/held-gates.js';
import { beginCountingCalls, endCountingCalls } from '../../../src/core/groups/missed-calls.js';
import { withOptedInGroups } from '../../../src/core/groups/opted-in-groups.js';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import { type AutoGroupKind } from '../../../src/nest/span-group/handler-span.js';
import { gateMethod } from '../../../src/nest/span-group/gate-method.js';
import { type CapturedSpans, captureSpans } from '../../support/capture-spans.js';

class Orders {
  @SpanGroup('orders')
  read(id: string): string {
    return id;
  }
}

@SpanGroup('orders')
class Base {}
/** Nest would gate its methods while an application boots; until then only the interceptor knows their group. */
class Ungated extends Base {
  read(id: string): string {
    return id;
  }
}

describe('a method whose gate is held open', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
    SpanRegistry.register('shop', ['orders', 'payment']);
    setSpanGroupSpec('payment');
  });

  const call = (Class: typeof Orders | typeof Ungated = Orders): string => new Class().read('a');

  /** Calls a handler as Nest does under the interceptor. */
  async function callIntercepted(Class: typeof Orders | typeof Ungated = Orders): Promise<void> {
    const execution = {
      getType: () => 'rpc',
      getClass: () => Class,
      getHandler: () => Class.prototype.read,
    } as unknown as ExecutionContext;
    const result = new SpanGroupInterceptor().intercept(execution, { handle: () => of(call(Class)) });
    expect(await lastValueFrom(result)).toBe('a');
  }

  describe('to count the calls before the set-up', () => {
    beforeEach(() => beginCountingCalls());
    afterEach(() => void endCountingCalls());

    it('N1: is counted at each call, makes no span and gives its result', () => {
      expect([call(), call()]).toEqual(['a', 'a']);
      expect(endCountingCalls()).toEqual([{ site: 'Orders.read', group: 'orders', count: 2 }]);
      expect(spans.startedCount()).toBe(0);
    });

    it.each<[string, typeof Orders | typeof Ungated]>([
      ['that has a gate', Orders],
      ['that has none', Ungated],
    ])('N1: is counted once a call under the interceptor, as a handler %s', async (_title, Class) => {
      await callIntercepted(Class);
      expect(endCountingCalls()).toEqual([{ site: `${Class.name}.read`, group: 'orders', count: 1 }]);
      expect(spans.startedCount()).toBe(0);
    });

    it.each<[AutoGroupKind, number]>([
      ['handlers', 1],
      ['enhancers', 0],
      ['providers', 0],
    ])('N1: is counted or not as one of the %s that autoGroups has gated', (auto, count) => {
      class Plain {
        read(id: string): string {
          return id;
        }
      }
      const site = { group: 'orders', options: {}, onClass: true, Class: Plain, key: 'read', auto };
      const gated = gateMethod(Plain.prototype.read as never, site);

      expect(gated.call(new Plain(), 'a')).toBe('a');
      expect(endCountingCalls().map((missed) => missed.count)).toEqual(count === 0 ? [] : [count]);
      expect(spans.startedCount()).toBe(0);
    });
  });

  it.each<[string, typeof Orders | typeof Ungated, spec: string]>([
    ['that is on', Orders, 'orders'],
    ['that is off', Orders, ''],
    ['that is on, without a gate', Ungated, 'orders'],
    ['that is off, without a gate', Ungated, ''],
  ])('I1: for a preview counts one call, of a group %s', async (_title, Class, spec) => {
    setSpanGroupSpec(spec);
    const preview = beginPreview(['orders'])!;
    onTestFinished(() => preview.end());
    await callIntercepted(Class);

    expect(Object.fromEntries(preview.counts.get('orders')!)).toEqual({ [`${Class.name}.read`]: 1 });
    expect(spans.names()).toEqual(spec === '' ? [] : [`${Class.name}.read`]);
  });

  it('I1: for a request that has turned its group on makes spans in that request alone', async () => {
    onTestFinished(holdGatesOpen(['orders']));
    const optedIn = withOptedInGroups(ROOT_CONTEXT, new Set(['orders']));
    for (const Class of [Orders, Ungated]) {
      await callIntercepted(Class);
      expect(call(Class)).toBe('a');
    }
    expect(spans.startedCount()).toBe(0);

    await context.with(optedIn, () => callIntercepted());
    await context.with(optedIn, () => callIntercepted(Ungated));
    expect(context.with(optedIn, () => call())).toBe('a');
    expect(spans.names()).toEqual(['Orders.read', 'Ungated.read', 'Orders.read']);
  });
});
