import { expect, test } from 'vitest';
import { readAppManifest } from '../../../src/config/app-manifest.ts';
import { PERMISSION_WORDS } from '../../../src/messages/setup/permissions.ts';
import {
  registeredPage,
  registerPage,
  SETUP_ERRORS,
  setupForm,
  setupPage,
} from '../../../src/messages/setup/setup.ts';

const fields = {
  github: 'https://github.com',
  organisation: 'acme',
  name: 'countersign-acme',
  address: '',
  rollout: 'observe' as const,
};

test('the setup page says what each permission of app.yml is for, and nothing about others', () => {
  expect(Object.keys(PERMISSION_WORDS)).toEqual(Object.keys(readAppManifest()?.default_permissions ?? {}));
});

test('the pages of the setup say what is asked for, where it goes and what comes next', () => {
  const steps = [
    setupForm(fields, { address: SETUP_ERRORS.address }, { checks: 'write' }),
    registerPage({
      action: 'https://github.com/settings/apps/new?state=s',
      manifest: '{"name":"x\'"<b>"}',
      fields: { ...fields, organisation: '' },
    }),
    registeredPage({
      app: { name: 'countersign-acme', url: 'https://github.com/apps/countersign-acme' },
      file: '/srv/.env',
      findings: [
        { check: 'settings', kind: 'valid' },
        { check: 'webhook', kind: 'never_sent' },
        { check: 'disk', kind: 'low', folder: '/srv', freeBytes: 1 },
        { check: 'webhook', kind: 'no_address' },
      ],
    }),
  ];
  expect(steps.map((step) => String(setupPage(step, '/setup/style.css'))).join('\n\n')).toMatchSnapshot();
});
