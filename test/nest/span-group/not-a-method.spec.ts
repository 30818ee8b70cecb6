import { describe, expect, it } from 'vitest';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { captureSpans } from '../../support/capture-spans.js';
import { setEnabledSpanGroups } from 'nest-lens/core';

describe('a decorator of a method', () => {
  const decorators: [string, () => MethodDecorator][] = [
    ['@SpanGroup', () => SpanGroup('orders')],
    ['@NoSpanGroup', () => NoSpanGroup()],
  ];

  it.each(decorators)('N4: %s is refused on what is none', (name, decorate) => {
    class Orders {
      get size(): number {
        return 1;
      }
    }
    const symbol = Symbol('size');
    Object.defineProperty(Orders.prototype, symbol, { value: 5 });
    const refusal = (member: string) => ({
      code: 'NOT_A_METHOD',
      message: expect.stringMatching(new RegExp(`${name}.*Orders\\.${member}`)) as string,
    });
    const thrownBy = (target: object, key: string | symbol): unknown => {
      const descriptor = Object.getOwnPropertyDescriptor(target, key)!;
      try {
        return decorate()(target, key, descriptor);
      } catch (error) {
        return error;
      }
    };

    expect(thrownBy(Orders.prototype, 'size')).toMatchObject(refusal('size'));
    expect(thrownBy(Orders.prototype, 'field')).toMatchObject(refusal('field'));
    expect(thrownBy(Orders.prototype, symbol)).toMatchObject(refusal('Symbol\\(size\\)'));
    expect(thrownBy(Orders, 'field')).toMatchObject(refusal('field'));
  });

  it('N4: hands on what it is given, so that another decorator can put it into place', () => {
    const spans = captureSpans();
    const ReadOnly: MethodDecorator = (target, key, descriptor) => ({
      ...(SpanGroup('orders')(target, key, descriptor) as typeof descriptor),
      writable: false,
    });
    class Orders {
      @ReadOnly
      list(): string {
        return 'listed';
      }
    }
    setEnabledSpanGroups(['orders']);

    expect(new Orders().list()).toBe('listed');
    expect(spans.names()).toEqual(['Orders.list']);
  });
});
