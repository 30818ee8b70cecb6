// #region datadog
import tracer from 'dd-trace';

tracer.init();
new tracer.TracerProvider().register();
// #endregion
