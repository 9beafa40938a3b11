import { AUTONOMOUS, ofClass, once, task } from '../calls.ts';

const fetch = (url: string) => ({ name: 'WebFetch', input: { url, prompt: 'what is there?' } });

export const WEB_CASES = ofClass('web', [
  {
    name: 'addresses of this machine and its network, however they are written',
    settings: { mode: 'plan' },
    model: once(
      fetch('@url@/?k=secret'),
      fetch('http://127.1/'),
      fetch('http://2130706433/'),
      fetch('http://0x7f000001/'),
      fetch('http://0177.0.0.1/'),
      fetch('http://[::1]/'),
      fetch('http://[::ffff:127.0.0.1]/'),
      fetch('http://169.254.169.254/latest/meta-data/'),
      fetch('http://localhost/'),
      fetch('http://user:pass@127.0.0.1/'),
      fetch('file:///etc/passwd'),
      fetch('ftp://127.0.0.1/'),
    ),
    expect: { calls: Array.from({ length: 12 }, () => 'stopped' as const) },
  },
  {
    name: 'the pair that leaks: a subagent that reads may not send unasked',
    settings: AUTONOMOUS,
    model: {
      main: [{ calls: [task('child', 'Explore')] }],
      tasks: {
        child: [
          {
            calls: [
              fetch('@url@/?k=secret'),
              { name: 'http_get', input: { url: '@url@' } },
              { name: 'WebSearch', input: { query: 'secret' } },
            ],
          },
        ],
      },
    },
    expect: { tasks: { child: ['stopped', 'stopped', 'stopped'] } },
  },
]);
