import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';

/** Lets pass whoever the proxy knows. */
@Injectable()
export class ViewerGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    return headers['x-forwarded-user'] !== undefined;
  }
}
