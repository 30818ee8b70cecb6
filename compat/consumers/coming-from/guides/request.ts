import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** Boots an application, asks it for one order, and closes it. Answers what it answered. */
export async function orderOf(root: Type<unknown>, spec = 'all'): Promise<unknown> {
  Object.assign(process.env, { NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: spec });
  const app = await NestFactory.create(root, { abortOnError: false, logger: false });
  try {
    await app.listen(0, '127.0.0.1');
    const response = await fetch(`${await app.getUrl()}/orders/tea`);
    return await response.json();
  } finally {
    await app.close();
  }
}
