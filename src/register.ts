/**
 * `nest-lens/register`: starts the SDK and the installed instrumentations before the application loads, by
 * `node --import nest-lens/register dist/main.js`, or `--require`. Needs `@opentelemetry/api` and `@opentelemetry/sdk-node`.
 */
import { startEarly } from './core/register/early-start.js';

startEarly();
