import { z } from 'zod';
import { optionalText, refuse } from './fields.ts';

/**
 * The conventional port for Prometheus exporters:
 * https://github.com/prometheus/prometheus/wiki/Default-port-allocations
 */
const DEFAULT_PORT = 9464;

/** Where the metrics can be read, and by whom. */
export interface MetricsAccess {
  /** With a token, they are also on the main port, for requests with that token. */
  token?: string;
  /** A port of their own. `isGiven`: the operator set it, so it is not only the default. */
  own?: { host: string; port: number; isGiven: boolean };
}

/**
 * The webhook port is open to everybody, so the metrics have their own port, reachable only from this machine
 * unless the operator says otherwise. Rejected: serving them on the main port without a token, because then
 * anybody could make the app compute them.
 */
export const metricsSchema = z
  .object({
    METRICS_PORT: optionalText.transform((value, ctx) => {
      if (value === undefined || value === 'off') return value;
      const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
      return port <= 65_535
        ? port
        : refuse(ctx, 'must be a whole number from 0 (any free port) to 65535, or "off"');
    }),
    METRICS_HOST: optionalText.transform((value) => value ?? '127.0.0.1'),
    METRICS_TOKEN: optionalText.transform((value, ctx) =>
      value === undefined || /^[\x21-\x7e]{16,}$/.test(value)
        ? value
        : refuse(ctx, 'must have at least 16 characters, none of them white space or outside of ASCII'),
    ),
  })
  .transform(({ METRICS_PORT: given, METRICS_HOST: host, METRICS_TOKEN: token }) => {
    const access: MetricsAccess = {};
    if (token !== undefined) access.token = token;
    if (typeof given === 'number') access.own = { host, port: given, isGiven: true };
    if (given === undefined && token === undefined) access.own = { host, port: DEFAULT_PORT, isGiven: false };
    return { metricsAccess: access };
  });
