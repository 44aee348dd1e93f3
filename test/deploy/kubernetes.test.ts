import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { DRAIN_MS } from '../../src/app.ts';
import { readStorageConfig } from '../../src/config/addresses.ts';
import { readArtifactsConfig, readConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/ports/settings.ts';
import { startHarness } from '../support/harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const probeSchema = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const deploymentSchema = z.object({
  spec: z.object({
    replicas: z.number(),
    strategy: z.looseObject({ type: z.string() }),
    template: z.object({
      metadata: z.object({
        labels: z.record(z.string(), z.string()),
        annotations: z.record(z.string(), z.string()),
      }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number(),
        automountServiceAccountToken: z.boolean(),
        securityContext: z.looseObject({ runAsUser: z.number(), fsGroup: z.number() }),
        containers: z.tuple([
          z.looseObject({
            envFrom: z.array(z.record(z.string(), z.object({ name: z.string() }))),
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
            startupProbe: probeSchema,
            livenessProbe: probeSchema,
            readinessProbe: probeSchema,
            lifecycle: z
              .object({
                preStop: z.object({ exec: z.object({ command: z.tuple([z.literal('sleep'), z.string()]) }) }),
              })
              .optional(),
            securityContext: z.looseObject({}),
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});
const policySchema = z.object({
  spec: z.object({
    policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
    egress: z.array(
      z.object({
        to: z.array(
          z.looseObject({
            ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
          }),
        ),
        ports: z.array(z.object({ protocol: z.string(), port: z.number() })),
      }),
    ),
  }),
});

function manifest(path: string) {
  const objects = parseAllDocuments(text(path)).map((document) => {
    expect(document.errors).toEqual([]);
    return z.looseObject({ kind: z.string() }).parse(document.toJS());
  });
  const one = <T extends z.ZodType>(kind: string, schema: T): z.infer<T> => {
    const found = objects.filter((object) => object.kind === kind);
    expect(found).toHaveLength(1);
    return schema.parse(found[0]);
  };
  const deployment = one('Deployment', deploymentSchema).spec;
  const pod = deployment.template.spec;
  const [container] = pod.containers;
  return {
    objects,
    one,
    deployment,
    pod,
    container,
    secret: one('Secret', z.object({ stringData: z.record(z.string(), z.string()) })).stringData,
    settings: one('ConfigMap', z.object({ data: z.record(z.string(), z.string()) })).data,
    portOf: (name: string) => container.ports.find((port) => port.name === name)?.containerPort,
    /** Where the pod may connect to, by addresses. */
    blocks: one('NetworkPolicy', policySchema).spec.egress.flatMap(({ to, ports }) =>
      to.flatMap(({ ipBlock }) => (ipBlock ? [{ ...ipBlock, ports }] : [])),
    ),
  };
}

const onSqlite = manifest('deploy/kubernetes.yaml');
const onPostgres = manifest('deploy/kubernetes-postgres.yaml');

/** What each kind is, in the package of Kubernetes' types. */
const TYPES: Readonly<Record<string, string>> = {
  Namespace: 'core/v1',
  Secret: 'core/v1',
  ConfigMap: 'core/v1',
  PersistentVolumeClaim: 'core/v1',
  Service: 'core/v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking/v1',
};

/** What the compiler says of the objects as literals of Kubernetes' types: a field that no type has is an error, too. */
async function typeErrors(given: readonly { kind: string }[]): Promise<string> {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'kubernetes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const code = given.map(
    (object, index) =>
      `import type { ${object.kind} as T${index} } from 'kubernetes-types/${TYPES[object.kind]}';\n` +
      `export const object${index}: T${index} = ${JSON.stringify(object, null, 1)};\n`,
  );
  writeFileSync(join(folder, 'objects.ts'), code.join('\n'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        module: 'esnext',
        moduleResolution: 'bundler',
        types: [],
      },
    }),
  );
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  try {
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder], { cwd: ROOT });
    return stdout;
  } catch (error) {
    return z.object({ stdout: z.string() }).parse(error).stdout;
  }
}

it('names the version of each kind as Kubernetes does', () => {
  for (const { kind, apiVersion } of [...onSqlite.objects, ...onPostgres.objects])
    expect(`core/${apiVersion}`.replace('networking.k8s.io', 'networking')).toMatch(
      new RegExp(`\\b${TYPES[kind]}$`),
    );
});

describe.each([
  ['one process', onSqlite],
  ['several processes on PostgreSQL', onPostgres],
])(
  'the manifest for %s on Kubernetes',
  (_, { objects, one, deployment, pod, container, secret, settings, portOf }) => {
    it('has only fields that Kubernetes has, with values of their types', async () => {
      expect(await typeErrors(objects)).toBe('');
    });

    it('would not pass with a field that Kubernetes does not have, or with a number as a text', {
      tags: 'slow',
    }, async () => {
      const wrong = objects.map((object) =>
        object.kind === 'Deployment'
          ? JSON.parse(
              JSON.stringify(object)
                .replace('"fsGroup":1000', '"fsGruop":1000')
                .replace(/"replicas":(\d)/, '"replicas":"$1"'),
            )
          : object,
      );
      const said = await typeErrors(wrong);
      expect(said).toContain("Type 'string' is not assignable to type 'number'");
      expect(said).toContain('fsGruop');
    });

    it('gives a process the time to end', () => {
      const waits = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(waits * 1_000 + DRAIN_MS + 3_000);
    });

    it('sets only what the app reads', () => {
      const names = SETTINGS.map(({ name }) => name as string);
      const given = [...Object.keys(secret), ...Object.keys(settings)];
      expect(given.filter((name) => !names.includes(name))).toEqual([]);
      expect(container.envFrom.flatMap((source) => Object.keys(source))).toEqual([
        'secretRef',
        'configMapRef',
      ]);
    });

    it('keeps every secret in the Secret', () => {
      const secrets = SETTINGS.flatMap((setting) => ('secret' in setting ? [setting.name as string] : []));
      expect(Object.keys(settings).filter((name) => secrets.includes(name))).toEqual([]);
    });

    it('has placeholders that the app refuses, and names', () => {
      const read = readConfig({ ...settings, ...secret });
      expect(read.ok ? [] : read.diagnostics.map((line) => line.split(' ')[0])).toEqual(
        expect.arrayContaining(['APP_ID', 'PRIVATE_KEY', 'WEBHOOK_SECRET']),
      );
    });

    it('has the ports on which the app listens', () => {
      const dockerfile = text('Dockerfile');
      const [, port] = /^ENV HOST=\S+ PORT=(\d+)$/m.exec(dockerfile) ?? [];
      expect(portOf('http')).toBe(Number(port));
      expect(portOf('metrics')).toBe(Number(settings.METRICS_PORT));
      expect(deployment.template.metadata.annotations['prometheus.io/port']).toBe(settings.METRICS_PORT);
      const service = one(
        'Service',
        z.object({ spec: z.object({ ports: z.tuple([z.object({ targetPort: z.string() })]) }) }),
      );
      expect(service.spec.ports[0].targetPort).toBe('http');
    });

    it('asks paths that the app answers: whether it lives at one, and whether it takes webhooks at another', async () => {
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
        ({ httpGet }) => httpGet,
      );
      expect(probes.map(({ port }) => port)).toEqual(['http', 'http', 'http']);
      expect(probes.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
      const harness = await startHarness();
      onTestFinished(() => harness.stop());
      for (const { path } of probes)
        expect((await fetch(`${harness.app.url}${path}`)).status, path).toBe(200);
    });

    it('lets the app write only to its volumes, without privileges', () => {
      expect(pod.volumes.map(({ name }) => name)).toEqual(container.volumeMounts.map(({ name }) => name));
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
      expect(pod.automountServiceAccountToken).toBe(false);
    });

    it('gives its pods the labels by which the Service finds them', () => {
      const { selector } = one(
        'Service',
        z.object({ spec: z.object({ selector: z.record(z.string(), z.string()) }) }),
      ).spec;
      expect(deployment.template.metadata.labels).toEqual(selector);
    });
  },
);

/** Where nothing of a pod may connect to, unless a rule names it. */
const PRIVATE = ['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
const HTTPS = [{ protocol: 'TCP', port: 443 }];

describe('the manifest for one process on Kubernetes', () => {
  const { objects, deployment, container, blocks } = onSqlite;

  it('runs one process for the database, and ends it before it starts the next', () => {
    expect(deployment.replicas).toBe(1);
    expect(deployment.strategy).toEqual({ type: 'Recreate' });
  });

  it('mounts a volume where the image keeps its data', () => {
    const [, data = ''] = /^VOLUME (\S+)$/m.exec(text('Dockerfile')) ?? [];
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([data, '/tmp']);
    expect(objects.map(({ kind }) => kind)).toContain('PersistentVolumeClaim');
  });

  it('lets the pod reach neither the cluster nor the address of cloud credentials', () => {
    expect(blocks.map(({ ports }) => ports)).toEqual(blocks.map(() => HTTPS));
    expect(blocks.flatMap(({ except }) => except)).toEqual(expect.arrayContaining(PRIVATE));
  });
});

describe('the manifest for several processes on Kubernetes', () => {
  const { objects, deployment, container, secret, settings, blocks } = onPostgres;

  it('starts the new version beside the old one, and always keeps one process', () => {
    expect(deployment.replicas).toBeGreaterThan(1);
    expect(deployment.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    expect(JSON.stringify(objects.find(({ kind }) => kind === 'PodDisruptionBudget'))).toContain(
      '"minAvailable":1',
    );
  });

  it('keeps nothing in a volume that only one pod can have', () => {
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/tmp']);
    expect(objects.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim');
    const keys = {
      AWS_ACCESS_KEY_ID: secret.AWS_ACCESS_KEY_ID ?? '',
      AWS_SECRET_ACCESS_KEY: secret.AWS_SECRET_ACCESS_KEY ?? '',
    };
    expect(readArtifactsConfig({ ...settings, ...keys })).toMatchObject({
      ok: true,
      config: { artifactsUrl: expect.stringMatching(/^s3:/), s3: { region: settings.AWS_REGION } },
    });
  });

  it('has a place for the address of PostgreSQL that the app refuses, and follows the form that its comment names', () => {
    expect(readStorageConfig(secret).ok).toBe(false);
    const [, example = ''] =
      /^ +# Such as (postgres:\S+)$/m.exec(text('deploy/kubernetes-postgres.yaml')) ?? [];
    expect(readStorageConfig({ DATABASE_URL: example }).ok).toBe(true);
  });

  it('lets the pods reach PostgreSQL, and apart from that what one process may reach', () => {
    const own = blocks.filter(({ cidr }) => !onSqlite.blocks.some((block) => block.cidr === cidr));
    expect(own).toEqual([
      { cidr: expect.stringMatching(/\/32$/), except: [], ports: [{ protocol: 'TCP', port: 5432 }] },
    ]);
    expect(blocks.filter((block) => !own.includes(block))).toEqual(onSqlite.blocks);
  });

  it('runs the same pod otherwise', () => {
    const { lifecycle, volumeMounts, ...rest } = container;
    const { volumeMounts: _, ...one } = onSqlite.container;
    expect(rest).toEqual(one);
  });
});
