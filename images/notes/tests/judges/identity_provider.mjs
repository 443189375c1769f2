// A real OpenID provider for the tests: one client, two people, no questions asked.
import { Provider } from 'oidc-provider';

const [port, clientId, clientSecret, ...redirectUris] = process.argv.slice(2);
/** Where it listens: for clients that are not on this machine, another address than usual. */
const address = process.env.PROVIDER_ADDRESS ?? '127.0.0.1';
const issuer = `http://${address}:${port}`;
const people = {
  ada: { email: 'ada@id.example', email_verified: true, name: 'Ada Id', groups: ['admins', 'writers'] },
  bob: { email: 'bob@id.example', email_verified: true, name: 'Bob Id', groups: ['writers'] },
};
const provider = new Provider(issuer, {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  features: { devInteractions: { enabled: true } },
});
provider.listen(Number(port), address, () => console.log('ready'));
