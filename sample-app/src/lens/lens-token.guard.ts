import { timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';

/** Everybody may look at `/lens/groups`. Changing something takes the token in `SHOP_LENS_TOKEN`; without that, nobody may. */
@Injectable()
export class LensTokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = context
      .switchToHttp()
      .getRequest<{ method: string; headers: { authorization?: string } }>();
    return method === 'GET' || isToken(headers.authorization?.replace(/^Bearer /, ''));
  }
}

function isToken(given: string | undefined): boolean {
  const token = Buffer.from(process.env['SHOP_LENS_TOKEN'] ?? '');
  const found = Buffer.from(given ?? '');
  return token.length > 0 && token.length === found.length && timingSafeEqual(token, found);
}
