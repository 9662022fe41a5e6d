import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { readSettings } from '../src/cli/read-settings.ts';
import { drainSecondsOf } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { settings } from '../src/config/settings.ts';
import { createReadinessRoute, healthRoute } from '../src/http/health.ts';
import { version } from '../src/http/metrics.ts';
import { baseFolder, exampleFolder, kubernetesFile, readDeployment } from './support/kubernetes.ts';

type Generator = { name: string; envs?: string[]; files?: string[] };
type Kustomization = {
  resources: string[];
  configMapGenerator: Generator[];
  secretGenerator: Generator[];
  images: { name: string }[];
};
type Resource = { apiVersion: string; kind: string; metadata: { name: string }; spec?: unknown };

const [base] = kubernetesFile<Kustomization>(baseFolder, 'kustomization.yaml') as [Kustomization];
const [example] = kubernetesFile<Kustomization>(exampleFolder, 'kustomization.yaml') as [Kustomization];
const ownResources = example.resources.filter((name) => name !== '../base');
const resources = [
  ...base.resources.flatMap((file) => kubernetesFile<Resource>(baseFolder, file)),
  ...ownResources.flatMap((file) => kubernetesFile<Resource>(exampleFolder, file)),
];
/** Files that an operator may add to the resources. */
const offered = Array.from(
  readFileSync(join(exampleFolder, 'kustomization.yaml'), 'utf8').matchAll(/^ {2}# - (\S+\.yaml)$/gm),
  ([, name = '']) => name,
);
const { spec } = readDeployment();
const pod = spec.template.spec;
const [container] = pod.containers;
const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
const envFile = (name: string) => parseEnv(readFileSync(join(exampleFolder, name), 'utf8'));
const settingsFile = envFile('settings.env');

function fileOf(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** Every value with that key, anywhere in the manifests. */
function valuesOf(name: string, inside: unknown): unknown[] {
  if (typeof inside !== 'object' || inside === null) return [];
  return Object.entries(inside).flatMap(([key, value]) => [
    ...(key === name ? [value as unknown] : []),
    ...valuesOf(name, value),
  ]);
}

const secretTexts: Record<string, string> = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-three',
  SLACK_SIGNING_SECRET: 'a'.repeat(32),
  PAYMENTS_CLIENT_ID: 'client',
  PAYMENTS_CLIENT_SECRET: 'client-secret',
  WEBHOOK_SECRETS: 'webhook-secret-of-16',
  REDIS_URL: 'rediss://:password@redis.example.com:6379',
  SEALING_KEYS: `k1:${Buffer.alloc(32, 'k').toString('base64')}`,
};

/** A replica's settings, with the Secret's files at a path of this machine. */
function replicaSettings(): Record<string, string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const mode = pod.volumes.find(({ secret }) => secret)?.secret?.defaultMode ?? 0;
  for (const [name, text] of Object.entries(secretTexts)) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  }
  const here = Object.entries({ ...settingsFile, ...env }).map(([name, value]) => [
    name,
    value?.replace('/run/secrets/payops', folder),
  ]);
  const PAYOPS_FILE = join(folder, 'payops.yml');
  const policy = readFileSync(join(exampleFolder, 'payops.yml'), 'utf8');
  // Replace the placeholder ids, as an operator does; the bot refuses them.
  writeFileSync(PAYOPS_FILE, policy.replaceAll(/\b([CU])XXXX/g, '$10123'));
  return { ...(Object.fromEntries(here) as Record<string, string>), PAYOPS_FILE };
}

it('the manifests give the bot settings that it accepts without a warning, with secrets as files', () => {
  const read = readSettings(replicaSettings());
  expect(read.kind === 'read' ? read.warnings : read.words).toEqual([]);
  const files = Object.entries(settingsFile).flatMap(([name, value]) =>
    value === `/run/secrets/payops/${name.slice(0, -'_FILE'.length)}` ? name.slice(0, -'_FILE'.length) : [],
  );
  expect(files.toSorted()).toEqual(Object.keys(secretTexts).toSorted());
  const asked = Object.keys(envFile('secrets.env.example'));
  expect(asked.toSorted()).toEqual([...files, 'REDIS_PASSWORD'].toSorted());
});

it('the manifests keep the cluster’s own service variables out', () => {
  expect(pod.enableServiceLinks).toBe(false);
  const linked = { ...replicaSettings(), PAYOPS_PORT: 'tcp://10.0.0.1:80' };
  expect(readSettings(linked)).toMatchObject({ warnings: [expect.stringContaining('PAYOPS_PORT')] });
});

it('the manifests name only files, volumes and secrets that exist', () => {
  expect([...base.resources, 'kustomization.yaml'].toSorted()).toEqual(readdirSync(baseFolder).toSorted());
  const { configMapGenerator, secretGenerator } = example;
  const generated = [...configMapGenerator, ...secretGenerator].flatMap(({ files = [], envs = [] }) => [
    ...files,
    ...envs.map((name) => (name === 'secrets.env' ? 'secrets.env.example' : name)),
  ]);
  const named = [...ownResources, ...offered, ...generated, 'kustomization.yaml', '.gitignore'];
  expect(named.toSorted()).toEqual(readdirSync(exampleFolder).toSorted());
  const mounted = pod.volumes.flatMap(({ configMap }) => configMap?.name ?? []);
  expect([...container.envFrom.map(({ configMapRef }) => configMapRef.name), ...mounted].toSorted()).toEqual(
    configMapGenerator.map(({ name }) => name).toSorted(),
  );
  const secrets = pod.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
  expect(secrets).toEqual(secretGenerator.map(({ name }) => name));
  const others = offered.flatMap((file) => kubernetesFile<Resource>(exampleFolder, file));
  expect(valuesOf('target', others)).toEqual(secrets.map((name) => ({ name })));
  expect(valuesOf('secretKeyRef', others)).toEqual(secrets.map((name) => ({ name, key: 'REDIS_PASSWORD' })));
  expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
    pod.volumes.map(({ name }) => name).toSorted(),
  );
  for (const path of [
    env['PAYOPS_FILE'],
    ...Object.values(settingsFile).filter((value) => value?.startsWith('/run/secrets')),
  ]) {
    expect(container.volumeMounts.some(({ mountPath }) => path?.startsWith(`${mountPath}/`))).toBe(true);
  }
  const services = resources.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
  const ingress = resources.find(({ kind }) => kind === 'Ingress');
  for (const backend of valuesOf('service', ingress))
    expect(services).toContain((backend as { name: string }).name);
  expect(example.images.map(({ name }) => name)).toEqual(valuesOf('image', pod));
});

it('the manifests select exactly the deployment’s pods', () => {
  const { labels } = spec.template.metadata;
  expect(spec.replicas).toBe(2);
  const selectors = resources.flatMap((resource) => [
    ...valuesOf('matchLabels', resource).filter(
      (labels) => !Object.keys(labels as object)[0]?.includes('metadata'),
    ),
    ...(resource.kind === 'Service' ? valuesOf('selector', resource) : []),
  ]);
  expect(selectors).toEqual(Array.from({ length: 6 }, () => labels));
});

it('the manifests probe paths and ports that the bot answers', () => {
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  expect(ports).toEqual({ http: Number(settings.port.fallback), metrics: Number(env['METRICS_PORT']) });
  const named = resources.flatMap((resource) => valuesOf('targetPort', resource));
  expect(named).toEqual(['http', 'metrics']);
  const { path: alive } = healthRoute;
  const { path: ready } = createReadinessRoute([], () => undefined, undefined);
  expect(container.startupProbe.httpGet).toEqual({ path: alive, port: 'http' });
  expect(container.livenessProbe.httpGet).toEqual({ path: alive, port: 'http' });
  expect(container.readinessProbe.httpGet).toEqual({ path: ready, port: 'metrics' });
});

it('the manifests give a replica as much time as the bot takes to stop', () => {
  const DRAIN_SECONDS = String(drainSecondsOf({ drainSeconds: undefined, redisUrl: 'redis://redis' }));
  const STOP_SECONDS = settings.stopSeconds.fallback;
  expect(env).toMatchObject({ DRAIN_SECONDS, STOP_SECONDS });
  const [, preStopSeconds] = container.lifecycle.preStop.exec.command;
  expect(Number(preStopSeconds) + Number(STOP_SECONDS)).toBeLessThan(pod.terminationGracePeriodSeconds);
});

it('the manifests run the image as its own user, with a read-only root and no cluster token', () => {
  const dockerfile = fileOf('Dockerfile');
  const [, user] = /^USER (\d+):\d+$/m.exec(dockerfile) ?? [];
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user) });
  expect(pod.automountServiceAccountToken).toBe(false);
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(container.volumeMounts.every(({ readOnly }) => readOnly)).toBe(true);
});

it('every file with a version has that of package.json', () => {
  const carried = {
    'package-lock.json': /"name": "payops",\s+"version": "([^"]+)"/,
    'CHANGELOG.md': /^## (\S+), \d{4}-\d\d-\d\d$/m,
    'README.md': /^Version (\S+),/m,
    'manifest.yml': /^# The Slack app of Payops (\S+)\. /,
    Dockerfile: /^LABEL .*org\.opencontainers\.image\.version=(\S+)/m,
    'compose.yml': /^ {4}image: payops:(\S+)$/m,
    'deploy/kubernetes/example/kustomization.yaml': /^ {4}newTag: (\S+)$/m,
  };
  const versions = Object.entries(carried).map(([path, shape]) => [path, shape.exec(fileOf(path))?.[1]]);
  expect(versions).toEqual(Object.keys(carried).map((path) => [path, version()]));
  expect(fileOf('deploy/kubernetes/example/kustomization.yaml')).toContain(`base?ref=v${version()}`);
});

it('takes what compose.yml reads of .env for no settings of the bot, which gets the whole file', () => {
  const own = Array.from(fileOf('compose.yml').matchAll(/\$\{(\w+):/g), ([, name = '']) => name);
  expect(own).toContain('STORE_PASSWORD');
  const file = Object.fromEntries(own.map((name) => [name, 'x']));
  expect(readConfig(file).warnings).toEqual([]);
});

it('compose.yml has the bot listen where its ports lead, whatever .env says', () => {
  type Service = { ports: string[]; environment: Record<string, string> };
  const { services } = parse(fileOf('compose.yml')) as { services: { payops: Service } };
  const { ports, environment } = services.payops;
  const { HOST, PORT, METRICS_PORT } = environment;
  expect(HOST).toBe('0.0.0.0');
  expect(ports.map((port) => port.split(':').at(-1))).toEqual([PORT, METRICS_PORT]);
});
