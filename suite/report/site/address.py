"""The address at which the site will be published, from SITE_URL.

With it, feed, previews, structured data and embedded pages have absolute addresses; without it all are relative.
"""

import os
from urllib.parse import urlsplit


def published_at() -> str:
    """Return SITE_URL with a slash at its end, '' if it is not set. Raises ValueError if it is no address of a site."""
    address = os.environ.get("SITE_URL", "").strip()
    parts = urlsplit(address)
    if address and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
        raise ValueError(
            f"SITE_URL is '{address}'; set it to the address of the site's folder, such as https://example.org/speed/, "
            "or unset it"
        )
    return address if not address or address.endswith("/") else f"{address}/"
