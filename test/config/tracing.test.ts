import { describe, expect, it } from 'vitest';
import { readBaseConfig } from '../../src/config/config.ts';

const ENDPOINT = 'http://collector:4318';

function tracingOf(env: Record<string, string>) {
  const read = readBaseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, ...env });
  return read.ok ? read.config.tracing : read.diagnostics;
}

describe('the variables of OpenTelemetry', () => {
  it('send all traces to the endpoint by default', () => {
    expect(tracingOf({})).toEqual({
      endpoint: ENDPOINT,
      headers: {},
      service: 'countersign',
      sampler: 'parentbased_always_on',
      ratio: 1,
    });
  });

  it('send none without an endpoint, whatever is set for another program', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_EXPORTER_OTLP_HEADERS: '?',
    };
    expect(tracingOf(env)).toBeUndefined();
  });

  it('set headers, with percent-encoded values', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: `Authorization=${'Bearer%20abc'}%3D, x-tenant = 7` };
    expect(tracingOf(env)).toMatchObject({ headers: { authorization: 'Bearer abc=', 'x-tenant': '7' } });
  });

  it.each([
    ['always_on', undefined, 1],
    ['always_off', undefined, 0],
    ['traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', '.5', 0.5],
    ['traceidratio', undefined, 1],
    ['always_on', '0.25', 1],
  ])('choose by %s with %s a share of %s', (sampler, share, ratio) => {
    const env = { OTEL_TRACES_SAMPLER: sampler, ...(share && { OTEL_TRACES_SAMPLER_ARG: share }) };
    expect(tracingOf(env)).toMatchObject({ sampler, ratio });
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, such as http://collector:4318',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:b@collector' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must have no user name, query or fragment, such as http://collector:4318',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'abc' },
      'OTEL_EXPORTER_OTLP_HEADERS must be names with values, such as authorization=Bearer%20…',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0d%0ac' },
      'OTEL_EXPORTER_OTLP_HEADERS must be names with values, such as authorization=Bearer%20…',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'x' },
      'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, such as 0.1',
    ],
  ])('are refused as %j', (env, diagnostic) => {
    expect(tracingOf(env)).toEqual([diagnostic]);
  });
});
