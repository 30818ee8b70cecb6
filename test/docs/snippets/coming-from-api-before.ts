// #region api-before
import { SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('shop');

export async function place(product: string) {
  return tracer.startActiveSpan(
    'orders.place',
    { attributes: { 'order.product': product } },
    async (span) => {
      try {
        const left = await take(product);
        span.setAttribute('order.left', left);
        return { product, left };
      } catch (error) {
        span.recordException(error as Error);
        span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
        throw error;
      } finally {
        span.end();
      }
    },
  );
}

async function take(product: string) {
  return tracer.startActiveSpan('stock.take', async (span) => {
    try {
      if (product === 'coffee') throw new Error('sold out');
      return 41;
    } catch (error) {
      span.recordException(error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
      throw error;
    } finally {
      span.end();
    }
  });
}
// #endregion
