/* What Pango asks of GIO: an interface of lists, for GTK. The wheel takes this library along under GIO's
   name, and not GIO with the libraries that it starts with. */
#include <gio/gio.h>

static guint changed;

G_DEFINE_INTERFACE(GListModel, g_list_model, G_TYPE_OBJECT)

static void g_list_model_default_init(GListModelInterface* made) {
    changed = g_signal_new("items-changed", G_TYPE_FROM_INTERFACE(made), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                           NULL, G_TYPE_NONE, 3, G_TYPE_UINT, G_TYPE_UINT, G_TYPE_UINT);
}

guint g_list_model_get_n_items(GListModel* list) { return G_LIST_MODEL_GET_IFACE(list)->get_n_items(list); }

void g_list_model_items_changed(GListModel* list, guint position, guint removed, guint added) {
    g_signal_emit(list, changed, 0, position, removed, added);
}
