"""The look of a space's site, as views and routes use it."""

import msgspec


class SiteLink(msgspec.Struct, frozen=True):
    """An entry of the navigation of a site."""

    label: str
    url: str


class Look(msgspec.Struct, frozen=True):
    """The name of a space and what its manager has chosen for its site.

    `light` and `dark` are the accent colour as text on these grounds. `logo` is the SHA-256 of the
    logo. Without `language` the words of its pages are in the reader's. Without `is_public` only
    the members of the space may see any of it.
    """

    name: str
    description: str
    is_public: bool
    is_indexed: bool = True
    light: str | None = None
    dark: str | None = None
    links: tuple[SiteLink, ...] = ()
    logo: str | None = None
    logo_type: str | None = None
    language: str | None = None
