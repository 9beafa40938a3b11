"""Slugs for URLs."""

import re


def slugify(text, max_length=None):
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return slug[:max_length]


def unique_slugs(texts):
    counts = {}
    result = []
    for text in texts:
        slug = slugify(text)
        counts[slug] = counts.get(slug, 0) + 1
        result.append(slug if counts[slug] == 1 else f"{slug}-{counts[slug]}")
    return result
