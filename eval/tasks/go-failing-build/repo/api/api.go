// Package api serves a store over HTTP.
package api

import (
	"io"
	"net/http"
	"strings"

	"example.test/kv/store"
)

// Handler serves GET, PUT and DELETE of /KEY.
type Handler struct{ Store store.Store }

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/")
	switch r.Method {
	case http.MethodGet:
		value, ok := h.Store.Get(key)
		if !ok {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		io.WriteString(w, value)
	case http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.Store.Set(key, string(body))
		w.WriteHeader(http.StatusNoContent)
	case http.MethodDelete:
		h.Store.Delete(key)
		w.WriteHeader(http.StatusNoContent)
	}
}
