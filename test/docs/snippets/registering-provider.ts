// #region registering-provider
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SpanRegistryService } from 'nest-lens';

@Injectable()
export class TenantSpans implements OnModuleInit {
  constructor(private readonly spanRegistry: SpanRegistryService) {}

  onModuleInit() {
    this.spanRegistry.register('tenants', ['tenant_lookup'], { per_request: ['tenant_lookup'] });
  }
}
// #endregion
