// #region operator-guard
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';

@Injectable()
export class OperatorGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    const token = process.env.OPERATOR_TOKEN;
    return Boolean(token) && headers.authorization === `Bearer ${token}`;
  }
}
// #endregion
