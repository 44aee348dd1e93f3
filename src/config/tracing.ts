import { z } from 'zod';
import { optionalText, webUrl, withoutTrailingSlash } from './fields.ts';

/** Which traces are sent: OpenTelemetry's names of samplers. No span has a parent in another program, so `parentbased_` changes nothing. */
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const PARENT_BASED = 'parentbased_';

/** Where traces are sent, and which. */
export interface TracingConfig {
  /** The collector, without the path for traces. */
  endpoint: string;
  /** Sent with each request, such as a key. */
  headers: Readonly<Record<string, string>>;
  /** The name under which people find the traces. */
  service: string;
  sampler: string;
  /** The share of traces that are sent, from 0 to 1. */
  ratio: number;
}

/**
 * The variables of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. They are read only
 * if the endpoint is set, because the others may be set for another program.
 */
export const tracingSchema = z
  .object({
    OTEL_EXPORTER_OTLP_ENDPOINT: optionalText,
    OTEL_EXPORTER_OTLP_HEADERS: optionalText,
    OTEL_SERVICE_NAME: optionalText,
    OTEL_TRACES_SAMPLER: optionalText,
    OTEL_TRACES_SAMPLER_ARG: optionalText,
  })
  .transform((env, ctx): { tracing?: TracingConfig } => {
    if (env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return {};
    const diagnostic = (name: string, message: string) =>
      ctx.addIssue({ code: 'custom', path: [name], message });
    const endpoint = webUrl(env.OTEL_EXPORTER_OTLP_ENDPOINT);
    if (typeof endpoint === 'string') {
      diagnostic('OTEL_EXPORTER_OTLP_ENDPOINT', `${endpoint}, such as http://collector:4318`);
      return z.NEVER;
    }
    const headers = headersIn(env.OTEL_EXPORTER_OTLP_HEADERS ?? '');
    if (!headers)
      diagnostic('OTEL_EXPORTER_OTLP_HEADERS', 'must be names with values, such as authorization=Bearer%20…');
    const given = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
    const sampler = SAMPLERS.find((one) => given === one || given === `${PARENT_BASED}${one}`);
    if (!sampler) {
      const names = [...SAMPLERS, ...SAMPLERS.map((one) => `${PARENT_BASED}${one}`)];
      diagnostic('OTEL_TRACES_SAMPLER', `must be one of ${names.join(', ')}`);
    }
    const ratio = sampler === 'traceidratio' ? ratioIn(env.OTEL_TRACES_SAMPLER_ARG) : undefined;
    if (Number.isNaN(ratio))
      diagnostic('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1, such as 0.1');
    if (!headers || !sampler || Number.isNaN(ratio)) return z.NEVER;
    return {
      tracing: {
        endpoint: withoutTrailingSlash(endpoint),
        headers,
        service: env.OTEL_SERVICE_NAME ?? 'countersign',
        sampler: given,
        ratio: ratio ?? (sampler === 'always_off' ? 0 : 1),
      },
    };
  });

/** Names and values of the form `name=value,name=value`, with the values percent-encoded; `undefined` if they are not. */
function headersIn(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name, encoded] = /^\s*([A-Za-z0-9-]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    const value = encoded === undefined ? undefined : decoded(encoded);
    if (name === undefined || value === undefined || !/^[\x20-\x7e]+$/.test(value)) return undefined;
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** NaN if it is no share. OpenTelemetry's default is everything. */
function ratioIn(text = '1'): number {
  const ratio = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  return ratio <= 1 ? ratio : Number.NaN;
}
