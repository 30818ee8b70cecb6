import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable, type Type } from '@nestjs/common';
import { Cron, CronExpression, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { managedSpan, NoSpanGroup, SpanGroup } from 'nest-lens';
import { express } from '../support/adapters.js';
import { diagnostics, lensApp, namesOf, parentIdOf, theSpan, until } from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { expectSpanLife } from '../support/finished-spans.js';
import { jobKinds, type ResultKind, turn } from '../support/result-kinds.js';
import { Timeline } from '../support/timeline.js';

function jobOf(kind: ResultKind, timeline: Timeline): Type<unknown> {
  @Injectable()
  class OrderJobs {
    @Timeout(1)
    @SpanGroup('order_jobs')
    run(): unknown {
      timeline.note('called');
      return kind.handle(timeline);
    }
  }
  return OrderJobs;
}

describe('scheduled jobs', () => {
  guardTransportTests();

  it.each(jobKinds)('I9, I12: $result gives one root span of its life', async (kind) => {
    const timeline = new Timeline();
    const builder = lensApp(express).imports(ScheduleModule.forRoot()).providers(jobOf(kind, timeline));
    builder.groups('order_jobs').forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
    const lens = await builder.start();
    await timeline.has('span ends');

    const span = await expectSpanLife(builder, timeline, { name: 'OrderJobs.run', kind, binding: 'job' });
    expect(parentIdOf(span)).toBeUndefined();
    expect(span.attributes).toEqual({
      'nestlens.group': 'order_jobs',
      'code.function.name': 'OrderJobs.run',
      ...(kind.cancelled ? { 'nestlens.cancelled': true } : {}),
    });
    expect([lens.warnings, diagnostics()]).toEqual([[], []]);
  });

  it.each(jobKinds)('I1: off, $result gives no span', async (kind) => {
    const timeline = new Timeline();
    const builder = lensApp(express).imports(ScheduleModule.forRoot()).providers(jobOf(kind, timeline));
    builder.groups('order_jobs', 'payment').spec('payment');
    builder.forRoot({ telemetry: { spanProcessors: [builder.tracker, timeline] } });
    await builder.start();
    await timeline.has(kind.ends);

    expect(timeline.moments).not.toContain('span starts');
  });

  it('N4: runs of @Cron, @Interval and @Timeout are root spans each, and no part of the last request', async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @SpanGroup('orders')
      async list(): Promise<string> {
        await turn();
        return 'list';
      }
    }
    class OrderJobs {
      @Cron(CronExpression.EVERY_SECOND, { name: 'each second' })
      @SpanGroup('order_jobs')
      async eachSecond(): Promise<void> {
        await managedSpan('order_jobs', 'inside', turn);
      }

      @SpanGroup('order_jobs')
      @Interval(15)
      often(): void {}

      @Timeout('once', 30)
      @SpanGroup('order_jobs', { name: 'warm up' })
      once(): void {}
    }
    const lens = await lensApp(express)
      .imports(ScheduleModule.forRoot())
      .groups('orders', 'order_jobs')
      .controllers(OrdersController)
      .providers(OrderJobs)
      .start();
    await lens.get('/orders');
    const seen = (): Set<string> => new Set(lens.exporter.spans.map((span) => span.name));
    expect(
      await until(() => {
        void lens.spans();
        return seen().size === 5;
      }),
    ).toBe(true);
    lens.app.get(SchedulerRegistry).deleteCronJob('each second');
    const spans = await lens.spans();

    expect([...seen()].sort()).toEqual([
      'OrderJobs.eachSecond',
      'OrderJobs.often',
      'OrdersController.list',
      'inside',
      'warm up',
    ]);
    const roots = spans.filter((span) => span.name !== 'inside');
    expect(roots.map(parentIdOf).filter((id) => id !== undefined)).toEqual([]);
    expect(new Set(roots.map((span) => span.spanContext().traceId)).size).toBe(roots.length);
    expect(theSpan(spans, 'warm up').attributes['code.function.name']).toBe('OrderJobs.once');
    const cron = spans.filter((span) => span.name === 'OrderJobs.eachSecond');
    expect(cron.map((span) => span.spanContext().spanId)).toContain(
      parentIdOf(spans.find((span) => span.name === 'inside')!),
    );
  });

  it('N4: on the class, each method of its own is in the group, the scheduled ones too', async () => {
    @SpanGroup('order_jobs')
    @Injectable()
    class OrderJobs {
      @Timeout(1)
      run(): string {
        return this.format();
      }

      @Timeout(1)
      @NoSpanGroup()
      quietly(): string {
        return 'quiet';
      }

      format(): string {
        return 'formatted';
      }
    }
    const lens = await lensApp(express)
      .imports(ScheduleModule.forRoot())
      .groups('order_jobs')
      .providers(OrderJobs)
      .start();
    expect(await until(() => lens.tracker.started === 2)).toBe(true);
    const spans = await lens.spans();

    expect(namesOf(spans)).toEqual(['OrderJobs.format', 'OrderJobs.run']);
    expect(parentIdOf(theSpan(spans, 'OrderJobs.format'))).toBe(
      theSpan(spans, 'OrderJobs.run').spanContext().spanId,
    );
  });
});
