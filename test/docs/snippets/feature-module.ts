// #region feature-module
import { Module } from '@nestjs/common';
import { defineSpanGroups, NestLensModule } from 'nest-lens';

export const cacheSpans = defineSpanGroups({
  namespace: 'cache',
  groups: ['cache_read', 'cache_write'],
  presets: { per_request: ['cache_write'] },
});

@Module({ imports: [NestLensModule.forFeature(cacheSpans)] })
export class CacheModule {}
// #endregion
