import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  NotFoundException,
  Param,
  type PipeTransform,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import type { Observable } from 'rxjs';

@Injectable()
class PriceTable {
  lookUp(id: string): number {
    return id.length;
  }
}

@Injectable()
class OrdersService {
  constructor(readonly prices: PriceTable) {}

  async find(id: string): Promise<{ id: string; price: number }> {
    await Promise.resolve();
    if (id === 'none') throw new NotFoundException();
    return { id, price: this.prices.lookUp(id) };
  }
}

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(execution: ExecutionContext): boolean {
    return this.reflector.get('role', execution.getHandler()) === 'reader';
  }
}

@Injectable()
export class GlobalGuard implements CanActivate {
  canActivate(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

@Injectable()
class TimingInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Injectable()
class GlobalInterceptor extends TimingInterceptor {}

@Injectable()
export class TrimPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (value === 'bad') throw new BadRequestException();
    return value.trim();
  }
}

@Catch(NotFoundException)
export class NotFoundFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<{ status(code: number): { send(body: unknown): void } }>();
    reply.status(404).send({ filtered: true });
  }
}

@Controller('orders')
@UseGuards(RolesGuard)
@UseInterceptors(TimingInterceptor)
@UseFilters(NotFoundFilter)
class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get(':id')
  @SetMetadata('role', 'reader')
  read(@Param('id', TrimPipe) id: string): Promise<unknown> {
    return this.orders.find(id);
  }

  @Get('of/nobody')
  @NoSpanGroup()
  @SetMetadata('role', 'reader')
  nobody(): string {
    return 'nobody';
  }

  notAHandler(): string {
    return 'nothing';
  }
}

@Controller('marked')
@SpanGroup('orders')
class MarkedController {
  @Get()
  list(): string {
    return 'marked';
  }
}

/** A module in which next to nothing is decorated, with an enhancer of each kind. */
@Module({
  controllers: [OrdersController, MarkedController],
  providers: [
    OrdersService,
    PriceTable,
    { provide: APP_GUARD, useClass: GlobalGuard },
    { provide: APP_INTERCEPTOR, useClass: GlobalInterceptor },
  ],
})
export class OrdersModule {}
