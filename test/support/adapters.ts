import { describe } from 'vitest';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { guardEachTest } from './lens-app.js';

export interface HttpPlatform {
  name: 'Express' | 'Fastify';
  create(): AbstractHttpAdapter;
}

export const express: HttpPlatform = { name: 'Express', create: () => new ExpressAdapter() };
export const fastify: HttpPlatform = {
  name: 'Fastify',
  create: () => new FastifyAdapter(),
};

/** Declares the tests once for each HTTP platform, with the guards of `guardEachTest` around each. */
export function onEachPlatform(title: string, tests: (platform: HttpPlatform) => void): void {
  describe.each([express, fastify])(`${title}, on $name`, (platform) => {
    guardEachTest();
    tests(platform);
  });
}
