// #region tracing
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({ instrumentations: [new HttpInstrumentation()] });
sdk.start();
// #endregion
