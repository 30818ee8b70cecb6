// #region python
import { managedSpan, SpanRegistry, traceFn } from 'nest-lens/core';

SpanRegistry.register('megatron', ['step', 'microbatch', 'layer', 'communication', 'inference'], {
  default: ['inference'],
  per_step: ['step', 'microbatch'],
});
SpanRegistry.register('nemo_rl', ['rollout'], { default: ['rollout', 'step'] });

const forwardBackward = traceFn('microbatch', 'dl.forward_backward')((batch: number[]) => batch.length);

export function trainStep(iteration: number, batch: number[]) {
  return managedSpan('step', 'train.step', (span) => {
    span?.setAttribute('dl.iteration', iteration);
    return forwardBackward(batch);
  });
}
// #endregion
