"""Descriptions of small APIs, of which several tests need every part."""

from __future__ import annotations

from typing import Any

import yaml

LIBRARY: Any = yaml.safe_load("""
openapi: 3.1.0
info: {title: Library, version: "1"}
servers: [{url: "https://library.example/v2"}]
security: [{key: []}, {login: []}]
paths:
  /books:
    get:
      operationId: findBooks
      security: []
      parameters:
        - {name: tags, in: query, explode: false, schema: {type: array, items: {enum: [a, b]}}}
        - {name: filter, in: query, style: deepObject, schema: {$ref: "#/components/schemas/Filter"}}
        - {name: limit, in: query, schema: {type: integer, maximum: 50}}
        - {name: X-Trace, in: header, schema: {type: boolean}}
      responses:
        "200":
          description: Books
          headers: {X-Total: {schema: {type: integer, example: 12}}}
          content:
            application/json: {schema: {$ref: "#/components/schemas/Books"}, example: [{title: Emma, year: 1815}]}
            application/xml: {schema: {$ref: "#/components/schemas/Books"}}
    post:
      operationId: addBook
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: "#/components/schemas/Book"}}
          application/x-www-form-urlencoded: {schema: {$ref: "#/components/schemas/Book"}}
      responses:
        "201": {description: Added, content: {application/json: {schema: {$ref: "#/components/schemas/Book"}}}}
        "422":
          description: Invalid
          content: {application/problem+json: {schema: {$ref: "#/components/schemas/Problem"}}}
  /books/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    delete: {operationId: removeBook, responses: {"204": {description: Gone}}}
  /books/newest:
    get: {operationId: newestBook, security: [], responses: {"200": {description: One}}}
  /shelves/{place}/label:
    parameters:
      - {name: place, in: path, required: true, x-ms-skip-url-encoding: true, schema: {type: string}}
    get: {operationId: labelOfShelf, security: [], responses: {"200": {description: The label}}}
components:
  schemas:
    Book:
      type: object
      required: [title]
      properties:
        title: {type: string, example: Emma}
        year: {type: integer}
        tags: {type: array, items: {type: string}}
    Books: {type: array, items: {$ref: "#/components/schemas/Book"}}
    Filter: {type: object, properties: {year: {type: integer}}, additionalProperties: false}
    Problem:
      type: object
      required: [error]
      properties: {error: {type: object, properties: {message: {type: string}}}}
  securitySchemes:
    key: {type: apiKey, in: query, name: key}
    login: {type: http, scheme: bearer}
""")
