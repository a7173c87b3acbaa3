import jakarta.activation.DataHandler;
import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlMimeType;
import jakarta.xml.bind.annotation.XmlRootElement;
import jakarta.xml.bind.annotation.XmlValue;

/** The element with the bytes; a part of its own where MTOM is on. */
@XmlRootElement(name = "data", namespace = Names.BYTEIO)
@XmlAccessorType(XmlAccessType.FIELD)
public class Data {
    @XmlValue
    @XmlMimeType("application/octet-stream")
    public DataHandler bytes;
}
