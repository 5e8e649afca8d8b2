// Who has which address in the lab.

export const addresses = {
  public: { v4: '93.184.216.34', v6: '2606:4700::1111' },
  lan: { v4: '10.1.2.3', v6: 'fd12::7' },
  secondLan: { v4: '192.168.7.7', v6: 'fd12::8' },
  metadata: { v4: '169.254.169.254', v6: 'fd00:ec2::254' },
  secondMetadata: { v4: '100.100.100.200', v6: 'fd20:ce::254' },
  names: { v4: '9.9.9.9', v6: '2620:fe::9' },
  host: { v4: '93.184.216.99', v6: '2606:4700::99' },
  neighbour: { v4: '93.184.217.5', v6: '2606:4700:1::5' }, // public, and on the wire that the host is on
  unreachable: { v4: '93.184.216.200', v6: '2606:4700::200' }, // public; the world says that nobody is there
  silent: { v4: '93.184.216.201', v6: '2606:4700::201' }, // public; what is sent there gets lost
};

// Those at the world's end of the wire.
export const worldly = ['public', 'lan', 'secondLan', 'metadata', 'secondMetadata', 'names', 'neighbour'];

// Public, for servers on port 443 that are there only for the tests that ask for them (secure_world.mjs).
export const secure = Object.fromEntries(
  ['api', 'otherAuthority', 'otherName', 'expired', 'oldVersion', 'resetter', 'echo', 'greeter', 'discard'].map((who, n) => [who, { v4: `93.184.216.${n + 40}`, v6: `2606:4700::${n + 40}` }]),
);

// All that must never be reached from a sandbox. The world answers for every address in these, so that a hole in a policy
// ends in a connection and not in a failure that looks like a refusal.
export const notPublic = {
  v4: ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4'],
  v6: ['64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/32', '2001:db8::/32', '2002::/16', 'fc00::/7', 'fec0::/10'],
};

export const families = ['v4', 'v6'];
export const socketType = { v4: 'udp4', v6: 'udp6' };
export const inUrl = (address) => (address.includes(':') ? `[${address}]` : address);

// Where things listen. TCP services are on all of the world's addresses, datagrams are answered from those that have names.
export const ports = {
  http: [80, 443, 8080],
  echo: [7, 22, 25, 5432, 6379],
  greeter: [19], // speaks first, and ends
  discard: [9], // reads, and says at the end how much it was
  resetter: [21], // resets the connection when something was said
  closed: 81,
  datagrams: [7, 123, 443, 5353],
  hostEverywhere: 7777, // of the host: on all its addresses
  hostLoopback: 7778, // of the host: on its loopback only
};
