// The binding of the map. In Shiny the opened individual is input$ID_open, the selected ones input$ID_selected.
HTMLWidgets.widget({
  name: "dtm_map",
  type: "output",
  factory(element) {
    const tell = (name, value) => {
      if (HTMLWidgets.shinyMode) Shiny.setInputValue(`${element.id}_${name}`, value);
    };
    let map = null;
    return {
      renderValue(data) {
        map?.destroy();
        map = TrajectoryMap.showMap(element, data, {
          onOpen: (id) => tell("open", id),
          onSelect: (ids) => tell("selected", ids),
        });
      },
      // The map follows the size of its element by itself.
      resize() {},
    };
  },
});
