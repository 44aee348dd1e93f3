import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { S3Access } from '../../src/ports/s3-location.ts';
import { freePort } from './app-environment.ts';
import { memoryFolder } from './memory-folder.ts';
import { until } from './until.ts';

/** Those that keep objects, and the one that answers clients. */
const STORES = ['account', 'container', 'object'] as const;
const PROXY = 'swift-proxy-server';

export const hasSwift: boolean = [PROXY, ...STORES.map((store) => `swift-${store}-server`)].every((program) =>
  existsSync(join('/usr/bin', program)),
);

/** Why tests against Swift are skipped, for their names. */
export const WITHOUT_SWIFT = hasSwift
  ? ''
  : ' (skipped: apt-get install swift-proxy swift-account swift-container swift-object)';

export interface SwiftServer {
  access: S3Access;
  stop(): Promise<void>;
}

/**
 * OpenStack Swift on this machine, with one copy of each object, in a folder of its own. Its middleware `s3api` speaks the protocol of S3:
 * https://docs.openstack.org/swift/latest/middleware.html#module-swift.common.middleware.s3api.s3api
 */
export async function startSwift(): Promise<SwiftServer> {
  const folder = mkdtempSync(join(memoryFolder(), 'countersign-swift-'));
  const processes: ChildProcess[] = [];
  const endWithThis = () => {
    for (const one of processes) one.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', endWithThis);
  mkdirSync(join(folder, 'node', 'disk'), { recursive: true });
  writeFileSync(
    join(folder, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n',
  );
  const settings = (port: number) =>
    `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nworkers = 0\nswift_dir = ${folder}\nuser = ${process.env.USER ?? 'root'}\n`;
  const start = (program: string, configuration: string) => {
    const file = join(folder, `${program}.conf`);
    writeFileSync(file, configuration);
    processes.push(spawn(program, [file], { cwd: folder, stdio: 'ignore' }));
  };
  for (const store of STORES) {
    const port = await freePort();
    await makeRing(folder, store, port);
    start(
      `swift-${store}-server`,
      `${settings(port)}devices = ${join(folder, 'node')}\nmount_check = false\n` +
        `[pipeline:main]\npipeline = ${store}-server\n[app:${store}-server]\nuse = egg:swift#${store}\n`,
    );
  }
  const port = await freePort();
  start(
    PROXY,
    `${settings(port)}[pipeline:main]\npipeline = catch_errors cache s3api tempauth proxy-server\n` +
      '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n' +
      // It demands a cache, and does without one that does not answer.
      '[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1\n' +
      '[filter:catch_errors]\nuse = egg:swift#catch_errors\n[filter:s3api]\nuse = egg:swift#s3api\n' +
      '[filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = testing .admin\n',
  );
  const endpoint = `http://127.0.0.1:${port}`;
  await until('Swift', () =>
    fetch(endpoint).then(
      () => true,
      () => undefined,
    ),
  );
  return {
    access: {
      endpoint,
      region: 'us-east-1',
      accessKeyId: 'test:tester',
      secretAccessKey: 'testing',
      sessionToken: undefined,
    },
    async stop() {
      process.off('exit', endWithThis);
      const ended = processes.map((one) => once(one, 'exit'));
      endWithThis();
      await Promise.all(ended);
    },
  };
}

/** Which disk of which server keeps what: here always the same one. */
async function makeRing(folder: string, store: string, port: number): Promise<void> {
  const builder = (...command: (string | number)[]) =>
    promisify(execFile)('swift-ring-builder', [join(folder, `${store}.builder`), ...command.map(String)]);
  await builder('create', 4, 1, 1);
  await builder(
    ...['add', '--region', 1, '--zone', 1, '--ip', '127.0.0.1', '--port', port, '--device', 'disk'],
    ...['--weight', 1],
  );
  await builder('rebalance');
}
