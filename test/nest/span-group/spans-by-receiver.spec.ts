import { beforeEach, describe, expect, it } from 'vitest';
import { setSpanGroupSpec, SpanGroup, SpanRegistry } from 'nest-lens';
import { type CapturedSpans, captureSpans } from '../../support/capture-spans.js';

describe('the class that the span of a method names', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
    SpanRegistry.register('shop', ['payment']);
    setSpanGroupSpec('payment');
  });

  class Payments {
    @SpanGroup('payment')
    static of(): string {
      return 'of';
    }

    @SpanGroup('payment')
    charge(): string {
      return 'charged';
    }
  }
  class CardPayments extends Payments {}
  class GiftPayments extends Payments {}

  it('N4: is that of the receiver, call by call', () => {
    for (const Class of [Payments, CardPayments, GiftPayments, CardPayments, CardPayments]) {
      new Class().charge();
      Class.of();
    }

    expect(spans.names()).toEqual(
      ['Payments', 'CardPayments', 'GiftPayments', 'CardPayments', 'CardPayments'].flatMap((name) => [
        `${name}.charge`,
        `${name}.of`,
      ]),
    );
  });

  const hostile = new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new Error('hands off');
      },
    },
  );
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a string', 'text'],
    ['a plain object', {}],
    ['an object without a prototype', Object.create(null)],
    ['an object whose constructor is no function', Object.create({ constructor: 'Payments' })],
    ['a proxy that cannot be read', hostile],
  ])('I14: is that of the decorated one, if the method is called on %s', (_title, receiver) => {
    expect(Payments.prototype.charge.call(receiver as Payments)).toBe('charged');
    expect(spans.names()).toEqual(['Payments.charge']);
  });

  it('N4: is that of a subclass, whatever it has in place of the method', () => {
    class Reading extends Payments {
      // @ts-expect-error an accessor in place of a method
      override get charge(): () => string {
        return super.charge;
      }
    }
    class Telling extends Payments {}
    Object.defineProperty(Telling.prototype, 'charge', { value: 'no method' });

    expect(new Reading().charge()).toBe('charged');
    expect(Payments.prototype.charge.call(new Telling())).toBe('charged');
    expect(spans.names()).toEqual(['Reading.charge', 'Telling.charge']);
  });

  it('N4: is that of a function without a prototype, if that is the receiver', () => {
    const pay = (): void => undefined;

    expect(Payments.of.call(pay as never)).toBe('of');
    expect(spans.names()).toEqual(['pay.of']);
  });

  it('N5: a static method that calls the one it overrides gives one span', () => {
    class Special extends Payments {
      @SpanGroup('payment')
      static override of(): string {
        return `special ${super.of()}`;
      }
    }

    expect(Special.of()).toBe('special of');
    expect(spans.names()).toEqual(['Special.of']);
  });

  it('I14, N5: is the decorated one, if the class of the receiver refuses to be read; super gives no span', () => {
    class Special extends Payments {
      @SpanGroup('payment')
      override charge(): string {
        return `special ${super.charge()}`;
      }
    }
    const refuse = (): never => {
      throw new Error('hands off');
    };
    const Refusing = new Proxy(class extends Special {}, { getOwnPropertyDescriptor: refuse });
    const receiver = new Special();
    Object.setPrototypeOf(
      receiver,
      Object.create(Special.prototype, { constructor: { value: Refusing } }) as object,
    );

    expect(receiver.charge()).toBe('special charged');
    expect(spans.names()).toEqual(['Special.charge']);
  });

  it('N4, N5: recursion through a method that a subclass overrides gives a span for each call', () => {
    class Counting {
      @SpanGroup('payment')
      count(n: number): number {
        return n === 0 ? 0 : 1 + this.count(n - 1);
      }
    }
    class Special extends Counting {
      @SpanGroup('payment')
      override count(n: number): number {
        return super.count(n);
      }
    }

    expect(new Special().count(2)).toBe(2);
    expect(spans.names()).toEqual(['Special.count', 'Special.count', 'Special.count']);
  });
});
