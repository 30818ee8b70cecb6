import { describe, expect, it } from 'vitest';
import { verbIn } from '../../src/eslint/verb-words.js';
import { testRule } from '../support/rule-cases.js';

testRule('snake-case-name', {
  both: {
    valid: [
      "defineSpanGroups({ namespace: 'Acme-Mail', groups: ['mail_send', 'http2'], presets: { per_request: ['mail_send'] } });",
      "managedSpan('orders', 'Orders.Place Order', () => 1);",
      // Said once, where the definition stands.
      "managedSpan(shop.group('Orders'), 'a', () => 1);",
      'defineSpanGroups(definition);\nSpanRegistry.register();\nNestLensModule.forRoot();',
      "Other.register('a', ['NotOurs']);",
    ],
    invalid: [
      [
        "managedSpan('mailSend', 'a', () => 1);",
        'notSnakeCase',
        { kind: 'group', name: 'mailSend', better: 'mail_send' },
      ],
      [
        "traceFn('HTTPClient', 'a')(() => 1);",
        'notSnakeCase',
        { kind: 'group', name: 'HTTPClient', better: 'http_client' },
      ],
      ["isSpanGroupEnabled('mail-send');", 'notSnakeCase'],
      ["managedSpan('bücher', 'a', () => 1);", 'notSnakeCase'],
      ["managedSpan('购物', 'a', () => 1);", 'notAName', { kind: 'group', name: '购物', better: '' }],
      [
        "const MAIL = 'mail.send';\nmanagedSpan(MAIL, 'a', () => 1);\nmanagedSpan(MAIL, 'b', () => 1);",
        'notSnakeCase',
      ],
      ["defineSpanGroups({ namespace: 'mail', groups: ['MailSend'] });", 'notSnakeCase'],
      [
        "const GROUPS = ['mail-send'];\ndefineSpanGroups({ namespace: 'mail', groups: GROUPS });",
        'notSnakeCase',
      ],
      [
        "const more = ['mail-send'];\ndefineSpanGroups({ namespace: 'mail', groups: ['a', ...more] });",
        'notSnakeCase',
      ],
      [
        "defineSpanGroups({ namespace: 'mail', groups: ['send_queue'], presets: { perRequest: ['send_queue'] } });",
        'notSnakeCase',
        { kind: 'preset', name: 'perRequest', better: 'per_request' },
      ],
      ["SpanRegistry.register('mail', new Set(['MailSend']));", 'notSnakeCase'],
      ["NestLensModule.forRoot({ registrations: [{ namespace: 'a', groups: ['A'] }] });", 'notSnakeCase'],
      ["NestLensModule.forFeature({ namespace: 'a', groups: ['A'] });", 'notSnakeCase'],
    ],
  },
  typescript: {
    valid: ["defineSpanGroups({ namespace: 'mail', groups: ['mail_send'] as const });"],
    invalid: [
      ["class A { @SpanGroup('MailSend') send() {} }", 'notSnakeCase'],
      ["enum Groups { Mail = 'mailSend' }\nmanagedSpan(Groups.Mail, 'a', () => 1);", 'notSnakeCase'],
      [
        "const NAMES = { mail: 'mailSend' } as const;\nmanagedSpan(NAMES.mail, 'a', () => 1);",
        'notSnakeCase',
      ],
      ["defineSpanGroups({ namespace: 'mail', groups: ['mail-send'] as const });", 'notSnakeCase'],
    ],
  },
});

testRule('noun-name', {
  both: {
    valid: [
      "managedSpan('orders', 'placeOrder', () => 1);",
      "defineSpanGroups({ namespace: 'shop', groups: ['pricing', 'db_query', 'mail_send'], presets: { get_all: [] } });",
    ],
    invalid: [
      ["managedSpan('create_order', 'a', () => 1);", 'verb', { name: 'create_order', verb: 'create' }],
      ["defineSpanGroups({ namespace: 'shop', groups: ['checking_out'] });", 'verb'],
    ],
  },
  typescript: { valid: [], invalid: [["class A { @SpanGroup('getOrders') list() {} }", 'verb']] },
});

describe('the verb in a name', () => {
  it.each(
    (
      'saving_checkpoint checking_out fetching get_orders fetchUsers send sending_mail process_payment loading_users ' +
      'validate_cart handle_request update_stock stopping placing_order'
    ).split(' '),
  )("is seen in '%s'", (name) => {
    expect(verbIn(name)).toBeDefined();
  });

  it.each(
    (
      'orders checkout payment pricing billing shipping_label routing_table data_loading mail_send mail_render db_query ' +
      'cache_read read_model load_balancer search_index process_manager order order_status checkpoint evaluation string ' +
      'king ring thing training_data charge query set_state open_api store update booking_confirmation inference ' +
      'building loading_phase processing messaging address setup gateway getaway address_lookup'
    ).split(' '),
  )("isn't seen in '%s'", (name) => {
    expect(verbIn(name)).toBeUndefined();
  });
});
